"""What the parameters of a function hold: what it is given, or what else is known of them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import SOME_MODULE
from trainlint.facts.model.values import Constant, Items, Object, Table, Value, one_of
from trainlint.program.api import subscripts
from trainlint.program.api.lists import bounded
from trainlint.program.evaluate import conditions, declared, given_by_name, named_after, names, standing_in
from trainlint.program.evaluate.classes import overridable
from trainlint.program.evaluate.values import Arguments, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def bind_parameters(ev: Evaluator, func: FunctionValue, given: Arguments) -> None:
    """Bind a function's parameters, in the scope that is now current, to what it was given."""
    args = list(given.args)
    options = dict(given.options)
    opened = given.open
    for parameter in func.code.parameters:
        if parameter.star == "*":
            names.bind(ev, parameter.name, _rest(ev, args, opened))
            args = []
        elif parameter.star == "**":
            others: list[Value] = [ev.unknown()] if opened else []
            table = Table(entries=dict(options), others=others, made_under=ev.guards)
            names.bind(ev, parameter.name, table)
            options = {}
        else:
            value = None
            if given.mappings and parameter.name not in options:
                value = _taken_out(ev, func, parameter, args, given.mappings[0])
            if value is None:
                value = _argument(ev, func, parameter, args, options, opened)
            names.bind(ev, parameter.name, value)


def _rest(ev: Evaluator, args: list[Value], opened: bool) -> Items:
    """What `*args` holds: a list that is handed over as `*layers` is one value for each of its items."""
    spread = [one if isinstance(one, Items) and one.kind == "star" else None for one in args]
    parts = (one.items if one else (arg,) for arg, one in zip(args, spread, strict=True))
    is_exact = not opened and all(one is None or one.exact for one in spread)
    items, is_exact = bounded(ev, list(chain.from_iterable(parts)), exact=is_exact)
    return Items(kind="tuple", items=items, exact=is_exact, is_begun=opened)


def _taken_out(
    ev: Evaluator, func: FunctionValue, parameter: s.Parameter, args: list[Value], batch: Value
) -> Value | None:
    """What the forward of a model is given by `model(**batch)` for a parameter that it has to be given: an entry of the batch."""
    is_needed = not args and parameter.name not in func.defaults
    if not is_needed or func.code.name != "forward":
        return None
    held = subscripts.item(ev, batch, Constant(value=parameter.name), func.code.at)
    return _handed(ev, func, parameter, held)


def _argument(
    ev: Evaluator,
    func: FunctionValue,
    parameter: s.Parameter,
    args: list[Value],
    options: dict[str, Value],
    opened: bool,
) -> Value:
    name = parameter.name
    if args and not parameter.keyword_only:
        if not (isinstance(args[0], Items) and args[0].kind == "star"):
            return _handed(ev, func, parameter, args.pop(0))
        if args[0].items:
            return ev.unknown(name)
    if name in options:
        return _handed(ev, func, parameter, options.pop(name))
    default = func.defaults.get(name)
    if not opened:
        return default if default is not None else ev.unknown(name)
    typed = declared.parameter(ev, func, parameter.annotation)
    if typed is not None and not _is_any_module(typed):
        return typed
    if default is None and typed is None:
        named = given_by_name.parameter(ev, func, name) or named_after.parameter(ev, func, name)
        if named is not None:
            return named
    used = (
        standing_in.parameter(ev, func, name, func.code.at, declared=typed is not None)
        if default is None or typed is not None
        else None
    )
    return used or typed or _left_out(ev, func, name, default)


def _left_out(ev: Evaluator, func: FunctionValue, name: str, default: Value | None) -> Value:
    """What a parameter holds whose default is all that is known of it. One that is None by default, and used as a part of
    training, is None or that part: `scaler=None`."""
    is_optional = isinstance(default, Constant) and default.value is None
    used = standing_in.parameter(ev, func, name, func.code.at) if is_optional else None
    nothing = overridable(ev, default, name)
    if used is None:
        return nothing
    is_given = conditions.key(ev.unknown(name))
    return one_of(((((is_given, False),), nothing), (((is_given, True),), used)))


def _handed(ev: Evaluator, func: FunctionValue, parameter: s.Parameter, value: Value) -> Value:
    """What a caller hands over; if nothing is known of it, what the parameter is declared to be, or is used as."""
    said = declared.instead(ev, parameter.annotation, func.env, value)
    if said is not value and not _is_any_module(said):
        return said
    used = standing_in.argument(ev, func, parameter.name, value, func.code.at)
    return used if used is not value else said


def _is_any_module(value: Value) -> bool:
    """Whether it may be a loss as well: only its use tells."""
    return isinstance(value, Object) and value.type == SOME_MODULE
