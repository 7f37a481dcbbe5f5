"""Methods that set up an object after it is made, and that only code out of sight calls: `def setup_gan(self, cfg)`, of which
`d_step` uses the networks.

Whoever calls a method that uses an attribute has called the one method that sets it before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from trainlint.facts.model.values import Constant, Object
from trainlint.program.evaluate import classes, lived
from trainlint.program.evaluate.values import Arguments, ClassValue, FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.walking import walk

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_TRAINS = frozenset("backward manual_backward step zero_grad train eval fit load_state_dict".split())
"""Names in what does more than to make the parts of an object."""

_ASKS = frozenset(("hasattr", "getattr", "__getattr__", "__dict__", "setattr"))
"""Names in methods that do not rely on an attribute, or set it in a way that is not seen."""

_MOST = 4


def run(ev: Evaluator, made: Object, cls: ClassValue) -> None:
    """Call the methods that an object that was just made needs before others can run, in their order."""
    every = classes.methods(ev, cls)
    found = _setting_up(ev, made, cls, every) if len(every) > 1 else []
    for code in found[:_MOST]:
        method = classes.class_attribute(ev, cls, code.name)
        if isinstance(method, FunctionValue) and method.origin.code is code and method.kind == "function":
            with ev.at_most("DECLARED_STEPS"):
                ev.call_function(method, Arguments((made,), open=True), code.at, made)


def _setting_up(
    ev: Evaluator, made: Object, cls: ClassValue, every: Sequence[s.Function]
) -> list[s.Function]:
    """The methods that alone set what others use, each behind those that set what it uses itself."""
    trains = {
        one.name for one in every if not one.name.startswith("__") and not _TRAINS.isdisjoint(one.names)
    }
    may = [one for one in every if _may_set_up(one) and trains.isdisjoint(one.names)]
    if not may or any(not _ASKS.isdisjoint(one.names) for one in every):
        return []
    setters: dict[str, set[int]] = {}
    for one in every:
        for name in lived.set_by(one) if one.name != "__init__" else ():
            setters.setdefault(name, set()).add(id(one))
    found: dict[int, set[str]] = {}
    for name, by in setters.items():
        code = next((one for one in may if {id(one)} == by), None)
        if code is not None and _is_missing(ev, made, cls, name) and _is_needed(name, code, every):
            found.setdefault(id(code), set()).add(name)
    chosen = [one for one in may if id(one) in found and not ev.is_read(one.name)]
    return list(_in_order(chosen, found))


def _may_set_up(code: s.Function) -> bool:
    """Whether a method makes something, and neither trains nor is called in a way of its own."""
    return (
        not code.name.startswith("__")
        and not code.decorators
        and not code.is_generator
        and _TRAINS.isdisjoint(code.names)
        and any(one[:1].isupper() for one in code.names)
    )


def _is_missing(ev: Evaluator, made: Object, cls: ClassValue, name: str) -> bool:
    """Whether the constructor and the class leave an attribute without a value, or without more than None."""
    held = ev.store.get((made.uid, name)) or classes.class_attribute(ev, cls, name)
    return held is None or (isinstance(held, Constant) and held.value is None)


def _is_needed(name: str, code: s.Function, every: Sequence[s.Function]) -> bool:
    """Whether other methods use an attribute without asking whether it is there, and do not set it up themselves."""
    using = [one for one in every if one is not code and one.name != "__init__" and name in one.names]
    return bool(using) and not any(code.name in one.names or _asks_for(one, name) for one in using)


def _asks_for(code: s.Function, name: str) -> bool:
    """Whether a condition in a method is about an attribute of this name: it may be there or not."""
    asking = (s.If, s.Conditional, s.While, s.Assert)
    tests = (node.test for node in walk(code.body) if isinstance(node, asking))
    return any(isinstance(one, s.Attribute) and one.name == name for test in tests for one in walk((test,)))


def _in_order(chosen: Sequence[s.Function], found: dict[int, set[str]]) -> Iterator[s.Function]:
    left = list(chosen)
    while left:
        wanted = {
            id(one): set().union(*(found[id(each)] for each in left if each is not one)) for one in left
        }
        first = next((one for one in left if wanted[id(one)].isdisjoint(one.names)), left[0])
        left.remove(first)
        yield first
