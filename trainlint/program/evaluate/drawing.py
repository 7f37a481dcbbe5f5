"""Models that methods beside an entry point draw one token after another from: `ids = cat([ids, next], 1)` in a loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainlint.facts.model.events.drawing import DrawsNext
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.values import FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.spelling import spelled
from trainlint.program.source.walking import walk

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_LOSSES = frozenset(("cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"))
_JOINS = frozenset(("cat", "concat"))
_DRAWS = frozenset(("multinomial", "argmax", "topk", "Categorical", "max"))


def note(ev: Evaluator, function: FunctionValue) -> None:
    """Note from what the methods beside one draw tokens, where these speak of a loss over some."""
    cls, code = function.owner, function.origin.code
    if cls is None:
        return  # what follows from all functions of a file would have to be asked again with each of them
    beside = classes.methods(ev, cls)
    if all(_LOSSES.isdisjoint(one.names) for one in beside):
        return
    drawing = [one for one in beside if _JOINS & one.names and _DRAWS & one.names]
    called = {name for one in drawing for name in _drawn_from(one)}
    if "self" in called:
        called |= {name for one in beside if one.name == "forward" for name in _given(one, _names(one))}
    if called:
        ev.emit(DrawsNext, code.at, called=tuple(sorted(called)))


def _names(code: s.Function) -> set[str]:
    return {one.name for one in code.parameters[1:]}


def _drawn_from(code: s.Function) -> Iterator[str]:
    for node in walk(code.body):
        if isinstance(node, (s.For, s.While)):
            grown = {name for one in walk(node.body) if (name := _grown(one)) is not None}
            if grown and any(_takes_last(one) for one in walk(node.body)):
                yield from _called_with(node.body, grown)


def _given(code: s.Function, names: set[str]) -> Iterator[str]:
    return _called_with(code.body, names)


def _called_with(block: s.Block, names: Iterable[str]) -> Iterator[str]:
    """What is called with one of some names, or with a part of what it holds."""
    for node in walk(block):
        if isinstance(node, s.Call) and (called := spelled(node.func)) is not None:
            given = (one.value for one in node.args)
            plain = (one.value if isinstance(one, s.Subscript) else one for one in given)
            if any(isinstance(one, s.Name) and one.name in names for one in plain):
                yield called


def _grown(node: object) -> str | None:
    """The name of what grows by one token: `ids` of `ids = torch.cat([ids, token], dim=1)`."""
    match node:
        case s.Assign(
            targets=(s.Name(name=name),),
            value=s.Call(
                func=s.Attribute(name=joins),
                args=(s.Argument(value=s.Collection(items=(s.Name(name=first), _))), *_),
            ),
        ) if joins in _JOINS and name == first:
            return name
    return None


def _takes_last(node: object) -> bool:
    """Whether it is the last position of something: `logits[:, -1]`."""
    match node:
        case s.Subscript(index=s.Collection(items=(_, last, *_))):
            return _is_last(last)
    return False


def _is_last(index: s.Expr) -> bool:
    match index:
        case s.Constant(value=-1):
            return True
        case s.Operation(operator="-", operands=(s.Constant(value=1),)):
            return True
    return False
