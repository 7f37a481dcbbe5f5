"""What loops over a value, and containers, hand out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.facts.api.classes import DICTS, LISTS, LOADER
from trainlint.facts.api.layers import CONTAINERS
from trainlint.facts.ask.guards import INDEX
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Items,
    Object,
    Op,
    Table,
    Unknown,
    Value,
    one_of,
)
from trainlint.program.evaluate import classes, containers
from trainlint.program.evaluate.values import (
    Arguments,
    ClassValue,
    FunctionValue,
)
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def element(ev: Evaluator, iterable: Value, at: s.Span, depth: int = 0) -> Value:
    """What one iteration of `for x in iterable` binds."""
    ev.spend()
    if depth > limits.ELEMENT_DEPTH:
        return ev.op("iterate", (iterable,), at)
    match iterable:
        case Items():
            if not iterable.items:
                return ev.unknown("element")
            if len(iterable.items) == 1:
                return iterable.items[0]
            return one_of(tuple(((), one) for one in iterable.items))
        case Table():
            return ev.unknown("key")
        case Choice():
            return one_of(
                tuple((guards, element(ev, one, at, depth + 1)) for guards, one in iterable.options)
            )
        case Carried():
            return element(ev, iterable.start, at, depth + 1)
        case Object():
            return _element_of_object(ev, iterable, at, depth)
        case Op(name="output", inputs=(Items() as inner,)):  # a module's list of outputs
            return element(ev, inner, at, depth + 1)
        case Op(name="enumerate" | "zip" | "items" | "values"):
            return _element_of_iterator(ev, iterable, at, depth)
    return ev.op("iterate", (iterable,), at)


def _element_of_object(ev: Evaluator, iterable: Object, at: s.Span, depth: int) -> Value:
    inside = held(ev, iterable)
    if inside is not None:
        return element(ev, inside, at, depth + 1)
    cls = iterable.definition
    method = classes.class_attribute(ev, cls, "__iter__") if isinstance(cls, ClassValue) else None
    if isinstance(method, FunctionValue):
        made = ev.call_function(method, Arguments((iterable,)), at, iterable)
        if isinstance(made, Items):
            return element(ev, made, at, depth + 1)
        if isinstance(made, Object) and (drawn := next_of(ev, made, at)) is not None:
            return drawn
        return ev.op("iterate", (made if made is not iterable else iterable,), at)
    batch = ev.op("iterate", (iterable,), at)
    if iterable.is_a(LOADER):
        ev.emit(Drawn, at, loader=iterable, batch=batch)
        return _parted(ev, batch, ev.batches.get(iterable.uid), at)
    return batch


def _parted(ev: Evaluator, batch: Op, made_of: Value | None, at: s.Span, depth: int = 0) -> Value:
    """A batch that is known to be a dict or a list, as one of its parts: what goes over all of them meets each.

    Of a batch that is an object of the program's own, the attributes are known.
    """
    if depth > limits.BATCH_DEPTH:
        return batch

    def part(key: object, value: Value) -> Value:
        ev.spend()
        found = ev.op("getitem", (batch,), at, options={"index": Constant(value=key)}, drawn=value)
        return _parted(ev, found, value, at, depth + 1)

    match made_of:
        case Table(others=[]):
            entries = {key: part(key, one) for key, one in made_of.entries.items()}
            return Table(entries=entries, loops=ev.loops, made_under=ev.guards)
        case Items(exact=True, items=[_, *_]):
            items = [part(number, one) for number, one in enumerate(made_of.items)]
            return Items(kind=made_of.kind, items=items, loops=ev.loops)
        case Object():
            for name, one in made_of.attributes.items():
                held = ev.op("getattr", (batch,), at, name, {"name": Constant(value=name)}, drawn=one)
                ev.store.set((batch.uid, name), held)
    return batch


def _element_of_iterator(ev: Evaluator, iterable: Op, at: s.Span, depth: int) -> Value:
    match iterable.name:
        case "enumerate":
            from_zero = len(iterable.inputs) == 1 and not iterable.options
            index = Unknown(text=INDEX if from_zero else "index", loops=ev.loops, annotation="int")
            items = [index, element(ev, iterable.inputs[0], at, depth + 1)]
        case "zip":
            items = [element(ev, one, at, depth + 1) for one in iterable.inputs]
        case "items":
            items = [ev.unknown("key"), value_of(ev, iterable.inputs[0], at)]
        case _:
            return value_of(ev, iterable.inputs[0], at)
    return Items(kind="tuple", items=items)


_HOLDING = CONTAINERS | DICTS | LISTS


def items_of(ev: Evaluator, value: Object, at: s.Span) -> Items | None:
    """What the `__iter__` of a class of the program's own gives, item by item; None where that is not in sight."""
    cls = value.definition
    method = classes.class_attribute(ev, cls, "__iter__") if isinstance(cls, ClassValue) else None
    if not isinstance(method, FunctionValue):
        return None
    made = ev.call_function(method, Arguments((value,)), at, value)
    return made if isinstance(made, Items) else None


def next_of(ev: Evaluator, value: Object, at: s.Span) -> Value | None:
    """What `next` of an object of the program's own gives; None where its class does not say."""
    cls = value.definition
    method = classes.class_attribute(ev, cls, "__next__") if isinstance(cls, ClassValue) else None
    return (
        ev.call_function(method, Arguments((value,)), at, value)
        if isinstance(method, FunctionValue)
        else None
    )


def value_of(ev: Evaluator, table: Value, at: s.Span) -> Value:
    if isinstance(table, Object):
        table = held(ev, table) or table
    if isinstance(table, Table):
        found = [*table.entries.values(), *table.others]
        if found:
            return found[0] if len(found) == 1 else one_of(tuple(((), one) for one in found))
    return ev.op("iterate", (table,), at)


def held(ev: Evaluator, value: Object) -> Items | Table | None:
    """What a container module (`nn.ModuleList`, `nn.Sequential`, ...), or a class over `dict` or `list`, holds."""
    if value.bases.isdisjoint(_HOLDING):
        return None
    found = ev.store.get((value.uid, containers.CONTENTS))
    return found if isinstance(found, (Items, Table)) else None


def listed(iterable: Value) -> Value:
    """A dict that is looped over gives its keys."""
    if isinstance(iterable, Table) and iterable.entries and not iterable.others:
        return Items(items=[Constant(value=key) for key in iterable.entries])
    return iterable
