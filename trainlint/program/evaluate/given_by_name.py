"""What a parameter is that nobody in sight hands over, by the one function of its file that makes something of that name.

`def train(model, optimizer, loader)` stands beside `def build(cfg)`, which returns a `model` and an `optimizer`: the script that
brings them together is missing, and nobody would bring together anything else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import LOADER, MODULE, OPTIMIZER, SCALER, SCHEDULER
from trainlint.facts.model.values import Items, Object, Value, alternatives
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.standing_in import may_be
from trainlint.program.evaluate.values import Arguments, FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.returned import Returned, returned

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_OF_TRAINING = frozenset((MODULE, OPTIMIZER, SCHEDULER, LOADER, SCALER))
_MAKES = r"_?(build|make|create|construct|init|initialize|setup|set_up|prepare|define|new|get)_(the_)?"
_MODELS = frozenset(("model", "net", "network"))
_NOWHERE = -1
_ALREADY_TRAINS = frozenset(("backward", "step", "zero_grad"))


def parameter(ev: Evaluator, func: FunctionValue, name: str) -> Value | None:
    """What the one function of the file returns that makes something of that name; None where that is no part of training,
    or none that the function could use."""
    found = _returned(ev, func, name)
    if found is None or not may_be(ev, func, name, found[0]):
        return None
    made, maker = found
    told_by = f"nobody in sight calls `{func.code.name}`: that `{name}` is what `{maker}` returns follows from the names"
    for one in alternatives(made):
        if isinstance(one, Object):
            one.told_by = one.told_by or told_by
    return made


def _returned(ev: Evaluator, func: FunctionValue, name: str) -> tuple[Value, str] | None:
    """What it returns, and what it is called."""
    makers = [
        (one, place)
        for one in _functions(ev, func.env.path)
        if one.code is not func.code and (place := _place(one.code, name)) != _NOWHERE
    ]
    ev.trace.code.update((one.env.path, one.code.at[0]) for one, _ in makers)
    makers = [
        (one, place)
        for one, place in makers
        if func.code.name not in one.code.names and _ALREADY_TRAINS.isdisjoint(one.code.names)
    ]
    used = frozenset().union(*(one.code.names for one, _ in makers))
    makers = [(one, place) for one, place in makers if one.code.name not in used]
    if len(makers) != 1:
        return None
    maker, place = makers[0]
    key = (maker.uid, "as it is given by its name")
    result = ev.store.get(key)
    if result is None:
        result = classes.elsewhere(
            ev, lambda: ev.call_function(maker, Arguments(open=True), maker.code.at, None)
        )
        ev.store.set(key, result)
    if place is not None:
        is_there = isinstance(result, Items) and result.exact and place < len(result.items)
        result = result.items[place] if is_there and isinstance(result, Items) else None
    if result is None or not all(map(_is_of_training, alternatives(result))):
        return None
    return result, maker.code.name


def _place(code: s.Function, name: str) -> int | None:
    """Where in what a function returns something of a name stands; None for all of it."""
    if any(one.name == name for one in code.parameters):
        return _NOWHERE
    places = {_place_in(one, code.name, name) for one in returned(code)}
    return places.pop() if len(places) == 1 else _NOWHERE


def _place_in(one: Returned, function: str, name: str) -> int | None:
    if one.names:
        return one.names.index(name) if one.names.count(name) == 1 else _NOWHERE
    if one.name == name:
        return None
    stems = _MODELS if name in _MODELS else (name,)
    is_maker = any(re.fullmatch(_MAKES + re.escape(stem), function) for stem in stems)
    return None if is_maker and (one.is_call or one.name is not None) else _NOWHERE


def _functions(ev: Evaluator, path: str) -> list[FunctionValue]:
    """The functions of a file, and those that it imports."""
    ev.trace.uses.add(path)
    every = ev.store.owned(ev.module(path).uid).values()
    return [one for one in every if isinstance(one, FunctionValue) and one.owner is None]


def _is_of_training(value: Value) -> bool:
    return isinstance(value, Object) and not value.bases.isdisjoint(_OF_TRAINING)
