"""Context managers of the program's own: what they do before the block of a `with`, and behind it.

That of a function stands around its `yield`, that of a class in `__enter__` and `__exit__`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainlint.facts.model.nodes import Body, Branch, Exit, Node
from trainlint.facts.model.values import Constant, Object, Value
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.context import Frame
from trainlint.program.evaluate.values import Arguments, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


class Manager(NamedTuple):
    """A context manager that a function with `yield` has made."""

    records: bool | None
    """Whether autograd records inside."""
    autocast: tuple[Value, ...]
    """The regions of autocast that are entered, or may be."""
    rest: Body
    """What is done when the block ends."""


Parts = tuple[list[Node], list[Node]]


def made(ev: Evaluator, frame: Frame, done: Body) -> Manager:
    """What a call of such a function makes. Its rest stands behind the call until a `with` takes it."""
    rest = Body()
    parts = _parted(done.body, frame)
    if parts is not None:
        done.body, rest.body = parts
        ev.nodes.append(rest)
    return Manager(frame.yield_records, frame.yield_autocast[len(ev.here.autocast) :], rest)


def _parted(nodes: list[Node], frame: Frame) -> Parts | None:
    """What happens up to the last `yield`, and what happens after it; None where nothing comes by one."""
    paused = frame.paused.get(id(nodes))
    begin = paused[1] if paused is not None else 0
    for number in reversed(range(begin, len(nodes))):
        node = nodes[number]
        if not isinstance(node, Branch):
            continue
        ways = (_parted(node.then, frame), _parted(node.otherwise, frame))
        if ways == (None, None):
            continue
        then, otherwise = ways[0] or (node.then, []), ways[1] or (node.otherwise, [])
        before = Branch(node.key, node.varies, then[0], otherwise[0])
        after = Branch(node.key, node.varies, then[1], otherwise[1])
        return [*nodes[:number], before], [after, *nodes[number + 1 :]]
    return (nodes[:begin], nodes[begin:]) if paused is not None else None


def leave(ev: Evaluator, context: Value, at: s.Span) -> None:
    """The block of `with context` has ended."""
    manager = ev.contexts.get(context.uid)
    is_here = manager is not None and manager.rest in ev.nodes
    if manager is not None and is_here:
        ev.nodes.remove(manager.rest)
    left_by = ev.nodes.pop() if ev.nodes and isinstance(ev.nodes[-1], Exit) else None
    if manager is not None and is_here:
        ev.nodes.append(manager.rest)
    if (method := _method(ev, context, "__exit__")) is not None:
        unharmed = (Constant(value=None),) * 3
        ev.call_function(method, Arguments((context, *unharmed)), at, context)
    if left_by is not None:
        ev.nodes.append(left_by)


def enter(ev: Evaluator, context: Value, at: s.Span) -> Value:
    """The block of `with context` begins; what `as` binds."""
    if (method := _method(ev, context, "__enter__")) is not None:
        return ev.call_function(method, Arguments((context,)), at, context)
    return context


def _method(ev: Evaluator, context: Value, name: str) -> FunctionValue | None:
    """A method of a class of the program's own."""
    if not isinstance(context, Object) or context.definition is None:
        return None
    method = classes.class_attribute(ev, context.definition, name)
    return method if isinstance(method, FunctionValue) else None
