"""What a parameter is that nobody in sight hands over, by the one function of its file that makes something of that name.

`def train(model, optimizer, loader)` stands beside `def build(cfg)`, which returns a `model` and an `optimizer`: the script that
brings them together is missing, and nobody would bring together anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import LOADER, MODULE, OPTIMIZER, SCALER, SCHEDULER
from trainlint.facts.model.values import Items, Object, Value, alternatives
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.siblings import look_at
from trainlint.program.evaluate.standing_in import may_be
from trainlint.program.evaluate.values import Arguments, FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.walking import walk

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_OF_TRAINING = frozenset((MODULE, OPTIMIZER, SCHEDULER, LOADER, SCALER))
_MAKES = r"_?(build|make|create|construct|init|initialize|setup|set_up|prepare|define|new|get)_(the_)?"
_MODELS = frozenset(("model", "net", "network"))
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
        (one, position)
        for one in _own(ev, func.env.path)
        if isinstance(one, FunctionValue) and one.owner is None and one.code is not func.code
        for position in _positions(one.code, name)
        if func.code.name not in one.code.names and _ALREADY_TRAINS.isdisjoint(one.code.names)
    ]
    used = frozenset().union(*(one.code.names for one, _ in makers))
    makers = [(one, position) for one, position in makers if one.code.name not in used]
    if len(makers) != 1:
        return None
    maker, position = makers[0]
    key = (maker.uid, "as it is given by its name")
    result = ev.store.get(key)
    if result is None:
        result = classes.elsewhere(
            ev, lambda: ev.call_function(maker, Arguments(open=True), maker.code.at, None)
        )
        ev.store.set(key, result)
    if position is not None:
        is_there = isinstance(result, Items) and result.exact and position < len(result.items)
        result = result.items[position] if is_there and isinstance(result, Items) else None
    if result is None or not all(map(_is_of_training, alternatives(result))):
        return None
    return result, maker.code.name


def _positions(code: s.Function, name: str) -> Iterator[int | None]:
    """Where in what a function returns something of a name stands; None for all of it."""
    if code.is_generator or any(one.name == name for one in code.parameters):
        return
    inner = {id(one) for node in walk(code.body) if isinstance(node, s.Function) for one in walk(node.body)}
    returns = [node for node in walk(code.body) if isinstance(node, s.Return) and id(node) not in inner]
    places = {_place(one.value, code.name, name) for one in returns}
    if len(places) == 1 and (place := places.pop()) != -1:
        yield place


def _place(returned: s.Expr | None, function: str, name: str) -> int | None:
    """-1 where nothing of that name is returned."""
    match returned:
        case s.Collection(items=items):
            names = [one.name if isinstance(one, s.Name) else None for one in items]
            return names.index(name) if names.count(name) == 1 else -1
        case s.Name(name=same) if same == name:
            return None
        case s.Name() | s.Call():
            stems = _MODELS if name in _MODELS else (name,)
            is_maker = any(re.fullmatch(_MAKES + re.escape(stem), function) for stem in stems)
            return None if is_maker else -1
    return -1


def _own(ev: Evaluator, path: str) -> Iterator[Value]:
    """The functions and classes of a file, and what it imports of them."""
    look_at(ev, path)
    yield from ev.store.owned(ev.module(path).uid).values()


def _is_of_training(value: Value) -> bool:
    return isinstance(value, Object) and not value.bases.isdisjoint(_OF_TRAINING)
