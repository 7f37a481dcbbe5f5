"""Records: named tuples, and copies of records in which some fields are others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.values import Constant, Items, Object, Table, Value
from trainlint.program.api import copying
from trainlint.program.evaluate import keys
from trainlint.program.evaluate.values import Arguments, ClassValue, Library, Partial
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_RECORD = "collections.namedtuple()"


def record_class(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`namedtuple("Output", "logits loss")`: a class whose instances have these attributes."""
    match given.get(1, "field_names"):
        case Constant(value=str(written)):
            names = written.replace(",", " ").split()
        case Items(exact=True, items=items) if all(isinstance(one, Constant) for one in items):
            names = [str(one.value) for one in items if isinstance(one, Constant)]
        case _:
            return None
    return Partial(
        function=Library(name=_RECORD), args=(Items(items=[Constant(value=one) for one in names]),)
    )


def record(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    fields, *values = given.args
    names = [str(one.value) for one in fields.parts() if isinstance(one, Constant)]
    made = ev.object("collections.namedtuple", frozenset(("collections.namedtuple",)), at, given)
    for place, field in enumerate(names):
        value = values[place] if place < len(values) else given.options.get(field, ev.unknown(field))
        ev.store.set((made.uid, field), value)
        ev.store.set((made.uid, keys.item(place)), value)
    return made


def _fields(value: Value) -> list[str]:
    """The names of the fields of a record, in their order; none where it is no record."""
    match value:
        case Object(definition=ClassValue() as cls) if cls.is_dataclass:
            return list(cls.fields)
        case Object(type="collections.namedtuple", args=(fields, *_)):
            return [str(one.value) for one in fields.parts() if isinstance(one, Constant)]
    return []


def _held(ev: Evaluator, value: Value, at: s.Span) -> dict[str, Value]:
    return {name: ev.attribute(value, name, at, name) for name in _fields(value)}


def replaced(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`dataclasses.replace(config, lr=0.1)`."""
    match given.args:
        case (Object() as old,) if names := _fields(old):
            made = copying.of_object(ev, old, at)
            for field, value in given.options.items():
                ev.store.set((made.uid, field), value)
                if field in names and ev.store.get((made.uid, keys.item(names.index(field)))) is not None:
                    ev.store.set((made.uid, keys.item(names.index(field))), value)
            return made
    return None


def as_dict(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`dataclasses.asdict(config)`."""
    held = _held(ev, given.args[0], at) if given.args else {}
    return Table(entries=dict(held), loops=ev.loops) if held else None


def as_tuple(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`dataclasses.astuple(config)`."""
    held = _held(ev, given.args[0], at) if given.args else {}
    return Items(kind="tuple", items=list(held.values())) if held else None


def fields(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`dataclasses.fields(config)`: of each field, its name."""
    first = given.args[0] if given.args else None
    is_class = isinstance(first, ClassValue) and first.is_dataclass
    names = list(first.fields) if isinstance(first, ClassValue) and is_class else _fields(first or Value())
    found: list[Value] = [Table(entries={"name": Constant(value=one)}) for one in names]
    return Items(kind="tuple", items=found) if found else None


RECORDS = {
    "collections.namedtuple": record_class,
    _RECORD: record,
    **dict.fromkeys(("dataclasses.replace", "copy.replace", "attr.evolve", "attrs.evolve"), replaced),
    **dict.fromkeys(("dataclasses.asdict", "attr.asdict", "attrs.asdict"), as_dict),
    **dict.fromkeys(("dataclasses.astuple", "attr.astuple", "attrs.astuple"), as_tuple),
    **dict.fromkeys(("dataclasses.fields", "attr.fields", "attrs.fields"), fields),
}
"""What these functions do; a result of None is that of any other call."""

_METHODS = {"_replace": replaced, "_asdict": as_dict}


def method(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """A method that every named tuple has; None for any other."""
    do = _METHODS.get(name)
    return do(ev, name, Arguments((value,), given.options), at, text) if do is not None else None
