"""Which checkpoint a loop resumes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.nodes import Loop
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Op,
    Table,
    Unknown,
    Value,
    Written,
    alternatives,
    constant,
)

MOST = 2000
"""How many values are searched for a checkpoint."""

_ARITHMETIC = frozenset("+ - * // int int_number builtins.int max builtins.max".split())


def resumed_from(training: Training, loop: Loop, models: list[StateLoaded]) -> Op | None:
    """The checkpoint that a loop resumes from: it says where the loop starts, or its name does."""
    saved = [
        one.args[0] for one in training.inside(loop.number, Called) if one.name == "torch.save" and one.args
    ]
    return (
        _start(loop)
        or _counted_from(loop, saved)
        or _counted_again(saved)
        or (_named_after_the_start(loop, models) if saved else None)
    )


def _start(loop: Loop) -> Op | None:
    """The checkpoint that sets the start of a `range`, or what a `while` asks about."""
    begin = _first_of_range(loop) or loop.test
    return _checkpoint_in(begin) if begin is not None else None


def _counted_from(loop: Loop, saved: list[Value]) -> Op | None:
    """The checkpoint that sets the start of a number that a loop counts on, and saves: an endless loop has no `range`."""
    for one in reached(saved, most=MOST):
        if isinstance(one, Carried) and one.loop == loop.number:
            found = _checkpoint_in(one.start)
            if found is not None:
                return found
    return None


def _counted_again(saved: list[Value]) -> Op | None:
    """The checkpoint of whose number a loop saves what has become of it, under the same key: it is counted where it is not
    seen, by an attribute."""
    for key, value in _entries(saved):
        ways = list(alternatives(value))
        found = [one for one in ways if _is_entry(one, key)]
        if found and any(_is_whole(constant(one)) for one in ways):
            return _checkpoint_in(found[0])
    return None


def _entries(saved: list[Value]) -> Iterator[tuple[object, Value]]:
    for one in saved:
        for table in alternatives(one):
            if isinstance(table, Table):
                yield from table.entries.items()


def _is_entry(value: Value, key: object) -> bool:
    """Whether a value is what a checkpoint holds under a key."""
    return (
        isinstance(value, Op)
        and value.name == "getitem"
        and constant(value.options.get("index")) == key
        and isinstance(value.inputs[0], Op)
        and value.inputs[0].name == "load"
    )


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _named_after_the_start(loop: Loop, models: list[StateLoaded]) -> Op | None:
    """The checkpoint of a model whose file is named after the number that a loop starts with: `model_40.pth`."""
    begin = _first_of_range(loop)
    numbers = {one.uid for one in reached([begin], _operands) if _is_a_setting(one)} if begin else set()
    if not numbers:
        return None
    for model in models:
        found = _checkpoint_in(model.state) if loop.number not in model.loops else None
        path = found.inputs[:1] if found is not None else ()
        if any(one.uid in numbers for one in reached(path, _spelled, MOST)):
            return found
    return None


def _is_a_setting(value: Value) -> bool:
    """Whether a value is a number that a user sets, or that is not known."""
    if isinstance(value, Constant):
        return value.is_default and _is_whole(value.value)
    return isinstance(value, Unknown) or (isinstance(value, Op) and value.name in ("getattr", "getitem"))


def _operands(value: Value) -> Iterable[Value]:
    is_computed = isinstance(value, Op) and value.name in _ARITHMETIC
    return value.parts() if is_computed or isinstance(value, (Choice, Carried)) else ()


def _spelled(value: Value) -> Iterable[Value]:
    return value.fields if isinstance(value, Written) else value.parts()


def _first_of_range(loop: Loop) -> Value | None:
    over = loop.over
    if isinstance(over, Op) and over.name == "range" and len(over.inputs) > 1:
        return over.inputs[0]
    return None


def _checkpoint_in(value: Value) -> Op | None:
    """A checkpoint that something is made of."""
    return next(
        (one for one in reached([value], most=MOST) if isinstance(one, Op) and one.name == "load"), None
    )
