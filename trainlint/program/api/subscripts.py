"""`value[index]`: what stands there, and what is put there."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trainlint import limits
from trainlint.facts.api.losses import LOSSES
from trainlint.facts.ask.layers import layer_of
from trainlint.facts.ask.registration import registry_of
from trainlint.facts.model.events.operations import Operation
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
from trainlint.program.api import defaults, host, noting, old_ways, same_keys
from trainlint.program.api.elements import held, value_of
from trainlint.program.api.filling import is_hashable, note_repeated, put
from trainlint.program.evaluate import attributes, classes, conditions, containers, keys, namespaces
from trainlint.program.evaluate.values import (
    Arguments,
    Bound,
    ClassValue,
    FileModule,
    FunctionValue,
    Library,
    Partial,
)
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def _looked_up(ev: Evaluator, table: Table, index: Value) -> Value:
    """`{"fit": fit, "test": test}[mode]`: each entry where `mode` is its key."""
    asked, varies = conditions.key(index), conditions.varies(index)
    found = []
    for key, value in table.entries.items():
        condition = ("==", asked, ("constant", repr(key)))
        ev.varying.setdefault(condition, varies)
        found.append((((condition, True),), value))
    return one_of(found)


def _acts(value: Value) -> bool:
    """Whether something happens when a value is called: plain data does nothing, whatever chooses it."""
    is_loss = isinstance(value, Library) and value.name in LOSSES
    return is_loss or isinstance(value, (Object, FunctionValue, ClassValue, Bound, Partial))


def item(ev: Evaluator, value: Value, index: Value, at: s.Span) -> Value:
    """`value[index]`, and one part of an unpacked value."""
    of = _ITEMS.get(type(value))
    found = of(ev, value, index, at) if of is not None else None
    if found is not None:
        return found
    old_ways.note_first(ev, value, index, at)
    if isinstance(index, Constant) and is_hashable(index.value):
        name = keys.item(index.value)
        stored = ev.store.get((value.uid, name))
        if stored is None or _was_read_without_graph(ev, stored):
            is_name = isinstance(index.value, str)
            stored = (
                ev.looked_up("getitem", value, at, options={"index": index})
                if is_name
                else ev.op("getitem", (value,), at, options={"index": index})
            )
            ev.store.set((value.uid, name), stored)
        return stored
    made = ev.op("getitem", (value,), at, options={"index": index})
    host.note_selection(ev, value, index, at)
    if isinstance(index, Items) and layer_of(made) is not None:
        ev.emit(Operation, at, output=made)
    return made


def _was_read_without_graph(ev: Evaluator, stored: Value) -> bool:
    """Whether an item was last read where nothing is recorded, and is read again where something is."""
    is_read = isinstance(stored, Op) and stored.name == "getitem" and stored.records is False
    return is_read and ev.here.records is not False


def _item_of_list(ev: Evaluator, value: Items, index: Value, at: s.Span) -> Value | None:
    match index:
        case Constant(value=bool()):
            return None
        case Constant(value=int(number)) if value.exact:
            is_there = -len(value.items) <= number < len(value.items)
            return value.items[number] if is_there else None
        case Constant(value=int(number)) if value.is_begun:
            return value.items[number] if 0 <= number < len(value.items) else None
        case Op(name="[:]"):
            return _sliced(value, index)
    if len(value.items) == 1:
        return value.items[0]
    return one_of(tuple(((), one) for one in value.items)) if value.items else None


def _item_of_dict(ev: Evaluator, value: Table, index: Value, at: s.Span) -> Value | None:
    match index:
        case Constant(value=key) if is_hashable(key) and key in value.entries:
            return value.entries[key]
    if (made := defaults.entry(ev, value, index, at)) is not None:
        return made
    if (found := namespaces.named(ev, value, index, at)) is not None:
        return found
    match index:
        case Constant() if value.entries and not value.others:
            return None
        case Constant() if len(value.others) == 1 and isinstance(value.others[0], Unknown):
            return item(ev, value.others[0], index, at)  # each key has its own
        case Constant() if value.made_of is not None:
            same = same_keys.entry(ev, value, index, item(ev, value.made_of[0], index, at))
            if same is not None:
                return same
        case Choice() if all(isinstance(one, Constant) for _, one in index.options):
            return one_of(tuple((guards, item(ev, value, one, at)) for guards, one in index.options))
    if (found := namespaces.told_by_use(ev, value, index, at)) is not None:
        return found
    if not value.others and len(value.entries) > 1 and any(map(_acts, value.entries.values())):
        return _looked_up(ev, value, index)
    return value_of(ev, value, at)


def _item_of_choice(ev: Evaluator, value: Choice, index: Value, at: s.Span) -> Value:
    options = value.options[: limits.MAX_OPTIONS_CALLED]
    return one_of(tuple((guards, item(ev, one, index, at)) for guards, one in options))


def _item_of_carried(ev: Evaluator, value: Carried, index: Value, at: s.Span) -> Value | None:
    return item(ev, value.start, index, at) if isinstance(value.start, (Items, Table)) else None


def _item_of_output(ev: Evaluator, value: Op, index: Value, at: s.Span) -> Value | None:
    is_marked = value.name == "output" and isinstance(value.inputs[0], (Items, Table))
    return item(ev, value.inputs[0], index, at) if is_marked else None


def _item_of_object(ev: Evaluator, value: Object, index: Value, at: s.Span) -> Value | None:
    inside = held(ev, value)
    if isinstance(inside, Items) and isinstance(index, Op) and index.name == "[:]":
        part = ev.object(value.type, value.bases, at, Arguments())  # a container of the same kind
        ev.store.set((part.uid, containers.CONTENTS), _sliced(inside, index))
        return part
    own = _own_method(ev, value, "__getitem__")
    made = _made_where_missing(ev, value, inside, index, at)
    if made is not None:
        return made
    if inside is not None and (own is None or ev.is_method_of(value)):
        return item(ev, inside, index, at)
    cls = value.definition
    if not isinstance(cls, ClassValue):
        return None
    match index:
        case Constant(value=int(number)) if 0 <= number < len(cls.fields):
            return ev.attribute(value, cls.fields[number], at)
    return ev.call_function(own, Arguments((value, index)), at, value) if own is not None else None


def _made_where_missing(
    ev: Evaluator, value: Object, inside: Value | None, index: Value, at: s.Span
) -> Value | None:
    """What `__missing__` of a class over `dict` gives for a key that is not there, as old as the dict itself."""
    missing = _own_method(ev, value, "__missing__")
    if missing is None or not isinstance(inside, Table) or ev.is_method_of(value):
        return None
    if inside.others or not isinstance(index, Constant) or not is_hashable(index.value):
        return None
    if index.value in inside.entries:
        return None
    with ev.inside(loops=value.loops):
        return ev.call_function(missing, Arguments((value, index)), at, value)


def _class_of(ev: Evaluator, value: ClassValue, index: Value, at: s.Span) -> Value | None:
    """`Runner[nn.Module]` is the class, for whoever does not check types; `Kind["name"]` may be a member of an enumeration."""
    return None if isinstance(index, Constant) else value


def _item_of_library(ev: Evaluator, value: Library, index: Value, at: s.Span) -> Value | None:
    """`torch.optim.__dict__[name]`, and the file itself as `sys.modules[__name__]`."""
    holder, _, last = value.name.rpartition(".")
    if value.name == "sys.modules" and isinstance(index, Library) and index.name == "builtins.__name__":
        return FileModule(path=ev.env.path)
    if last != "__dict__":
        return None
    match index:
        case Constant(value=str(name), is_default=False):
            return ev.attribute(Library(name=holder), name, at)
    return Library(name=f"{holder}.?")


_ITEMS: dict[type, Callable[[Evaluator, Any, Value, s.Span], Value | None]] = {
    Items: _item_of_list,
    Table: _item_of_dict,
    Choice: _item_of_choice,
    Carried: _item_of_carried,
    Op: _item_of_output,
    Object: _item_of_object,
    ClassValue: _class_of,
    Library: _item_of_library,
}
"""What stands at an index of each kind of value; None where that is not known."""


def _sliced(value: Items, index: Op) -> Items:
    bounds = [one.value for one in index.inputs if isinstance(one, Constant)]
    if not value.exact or len(bounds) < 3 or not all(isinstance(one, (int, type(None))) for one in bounds):
        return Items(kind=value.kind, items=list(value.items), exact=False, at=value.at)
    return Items(kind=value.kind, items=value.items[bounds[0] : bounds[1] : bounds[2] or 1], at=value.at)


def _told(ev: Evaluator, index: Value) -> Constant | None:
    """The key that what holds here tells: below `if name == "head":`, `layers[name]` is `layers["head"]`."""
    asked = conditions.key(index)
    for condition, outcome in ev.guards:
        match condition:
            case ("==", same, ("constant", text)) if outcome and same == asked:
                return Constant(value=literal_eval(text))
    return None


def store_item(ev: Evaluator, container: Value, index: Value, value: Value, at: s.Span) -> None:
    """`container[index] = value`."""
    attributes.note_entrusted(ev, container, value, at)
    match container, index:
        case Table(), Constant(value=key) if is_hashable(key):
            put(ev, container, key, value)
        case Table(), _ if (told := _told(ev, index)) is not None and told.value not in container.entries:
            ev.store.touch(container)
            container.entries[told.value] = value  # where the key is another, there is none to read
        case Table(), _:
            ev.store.touch(container)
            container.others.append(value)
            note_repeated(ev, container, value, at)
        case Items(exact=True), Constant(value=int(number)) if (
            -len(container.items) <= number < len(container.items)
        ):
            ev.store.touch(container)
            container.items[number] = value
        case Items(), _:
            ev.store.touch(container)
            container.items.append(value)
            container.exact = container.is_begun = False
            container.first = 0
        case Op(), _ if (module := registry_of(container)) is not None:
            name = index.value if isinstance(index, Constant) else f"module added at {at[0]}"
            ev.set_attribute(module, str(name), value, at)
        case ((Op() | Unknown()), (Op() | Items())):
            noting.note_ignored(ev, container, index, value, at)
            _written(ev, container, index, value, at)
        case Object(), _ if (own := _own_method(ev, container, "__setitem__")) is not None:
            ev.call_function(own, Arguments((container, index, value)), at, container)
        case Object(), _ if (inside := held(ev, container)) is not None:
            store_item(ev, inside, index, value, at)
        case Choice(), _:
            for _, one in container.options:
                store_item(ev, one, index, value, at)
        case _, Constant(value=key) if is_hashable(key):
            ev.store.set((container.uid, keys.item(key)), value)
            _written(ev, container, index, value, at)
        case _:
            _written(ev, container, index, value, at)


def _own_method(ev: Evaluator, value: Object, name: str) -> FunctionValue | None:
    """A method of a class of the program's own; None where that has none."""
    cls = value.definition
    found = classes.class_attribute(ev, cls, name) if isinstance(cls, ClassValue) else None
    return found if isinstance(found, FunctionValue) else None


def _written(ev: Evaluator, container: Value, index: Value, value: Value, at: s.Span) -> None:
    if isinstance(container, Op):
        ev.write(container, ev.op("setitem", (container, index, value), at))
        if not (isinstance(index, Constant) and isinstance(index.value, str)):  # which no tensor takes
            noting.note_overwritten(ev, container, at)
