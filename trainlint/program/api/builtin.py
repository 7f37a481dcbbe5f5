"""Python's own functions and containers, as far as values pass through them."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trainlint import limits
from trainlint.facts.api.classes import LOADER, MODULE, PARAMETER
from trainlint.facts.api.layers import CONTAINERS
from trainlint.facts.api.operations import TENSORS_ALONE
from trainlint.facts.ask.guards import INDEX
from trainlint.facts.ask.layers import layer_of
from trainlint.facts.ask.numbers import is_whole
from trainlint.facts.ask.registration import registry_of
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.event import Escape
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
from trainlint.program.api import host, noting
from trainlint.program.api.lists import bounded, is_counter, repeated
from trainlint.program.evaluate import classes, conditions, containers
from trainlint.program.evaluate.values import (
    Arguments,
    Bound,
    ClassValue,
    FunctionValue,
    Library,
    Partial,
    Super,
)
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

NAMES = frozenset(dir(builtins))

_FOLDED: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NO_MODULES = frozenset((PARAMETER, "torch.Tensor"))
_PASSED_THROUGH = frozenset(("list", "tuple", "iter", "reversed", "sorted", "set", "frozenset"))
_HARMLESS = frozenset(
    "print repr str len range isinstance issubclass hasattr id type hash format round abs min max sum any all "
    "bool open input vars dir callable ord chr bytes divmod pow hex bin object slice".split()
)


def fold(name: str, operands: tuple[Value, ...]) -> Value | None:
    """Arithmetic and comparison of constants; None where it cannot be done."""
    if name in ("is", "is not", "==", "!=") and len(operands) == 2:
        same = _identical(operands[0], operands[1])
        if same is not None:
            return Constant(value=same == (name in ("is", "==")))
    values = [one.value for one in operands if isinstance(one, Constant) and not one.is_default]
    if name == "%" and len(operands) == 2 and values[-1:] == [1] and is_whole(operands[0]):
        return Constant(value=0)
    if len(values) != len(operands):
        return None
    if name == "not":
        return Constant(value=not values[0])
    if name in ("in", "not in") and isinstance(values[1], str) and isinstance(values[0], str):
        return Constant(value=(values[0] in values[1]) == (name == "in"))
    if (
        name not in _FOLDED
        or len(values) != 2
        or not all(isinstance(one, (int, float, str)) for one in values)
    ):
        return None
    if any(map(_is_large, values)) or (
        name in "*%" and not all(isinstance(one, (int, float)) for one in values)
    ):
        return None
    try:
        return Constant(value=_FOLDED[name](*values))
    except (TypeError, ValueError, ArithmeticError):
        return None


def _is_large(value: object) -> bool:
    """Whether a constant is too large to be a setting."""
    if isinstance(value, str):
        return len(value) > limits.MAX_TEXT
    return isinstance(value, int) and value.bit_length() > limits.MAX_BITS


def _identical(first: Value, second: Value) -> bool | None:
    """Whether two values certainly are, or certainly are not, the same; None where that is open."""
    for one, other in ((first, second), (second, first)):
        if conditions.is_none(one):
            return conditions.is_none(other)
    return None


def element(ev: Evaluator, iterable: Value, at: s.Span, depth: int = 0) -> Value:
    """What one round of `for x in iterable` binds."""
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
        return ev.op("iterate", (made if made is not iterable else iterable,), at)
    batch = ev.op("iterate", (iterable,), at)
    if iterable.is_a(LOADER):
        ev.emit(Drawn, at, loader=iterable, batch=batch)
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
            items = [ev.unknown("key"), _value_of(ev, iterable.inputs[0], at)]
        case _:
            return _value_of(ev, iterable.inputs[0], at)
    return Items(kind="tuple", items=items)


def without_entry(ev: Evaluator, table: Table, key: Any) -> Value:
    """Remove what a dict holds for a key, and return it."""
    ev.store.touch(table)
    found = table.entries.pop(key)
    if ev.guards:  # on another way it may still be there
        table.entries[key] = ev.unknown(str(key))
    return found


def _value_of(ev: Evaluator, table: Value, at: s.Span) -> Value:
    if isinstance(table, Object):
        table = held(ev, table) or table
    if isinstance(table, Table):
        found = [*table.entries.values(), *table.others]
        if found:
            return found[0] if len(found) == 1 else one_of(tuple(((), one) for one in found))
    return ev.op("iterate", (table,), at)


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
    return isinstance(value, (Object, FunctionValue, ClassValue, Bound, Partial))


def held(ev: Evaluator, value: Object) -> Items | Table | None:
    """What a container module (`nn.ModuleList`, `nn.Sequential`, ...) holds."""
    if value.bases.isdisjoint(CONTAINERS):
        return None
    found = ev.store.get((value.uid, containers.CONTENTS))
    return found if isinstance(found, (Items, Table)) else None


def item(ev: Evaluator, value: Value, index: Value, at: s.Span) -> Value:
    """`value[index]`, and one part of an unpacked value."""
    of = _ITEMS.get(type(value))
    found = of(ev, value, index, at) if of is not None else None
    if found is not None:
        return found
    if isinstance(index, Constant) and is_hashable(index.value):
        name = f"[{index.value!r}]"
        stored = ev.store.get((value.uid, name))
        if stored is None:
            stored = ev.op("getitem", (value,), at, options={"index": index})
            ev.store.set((value.uid, name), stored)
        return stored
    made = ev.op("getitem", (value,), at, options={"index": index})
    host.note_selection(ev, value, index, at)
    if isinstance(index, Items) and layer_of(made) is not None:
        ev.emit(Operation, at, output=made)
    return made


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
        case Constant() if value.entries and not value.others:
            return None
        case Choice() if all(isinstance(one, Constant) for _, one in index.options):
            return one_of(tuple((guards, item(ev, value, one, at)) for guards, one in index.options))
    if not value.others and len(value.entries) > 1 and any(map(_acts, value.entries.values())):
        return _looked_up(ev, value, index)
    return _value_of(ev, value, at)


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
    if inside is not None:
        return item(ev, inside, index, at)
    cls = value.definition
    if not isinstance(cls, ClassValue):
        return None
    match index:
        case Constant(value=int(number)) if 0 <= number < len(cls.fields):
            return ev.attribute(value, cls.fields[number], at)
    method = classes.class_attribute(ev, cls, "__getitem__")
    if isinstance(method, FunctionValue):
        return ev.call_function(method, Arguments((value, index)), at, value)
    return None


_ITEMS: dict[type, Callable[[Evaluator, Any, Value, s.Span], Value | None]] = {
    Items: _item_of_list,
    Table: _item_of_dict,
    Choice: _item_of_choice,
    Carried: _item_of_carried,
    Op: _item_of_output,
    Object: _item_of_object,
}
"""What stands at an index of each kind of value; None where that is not known."""


def listed(iterable: Value) -> Value:
    """A dict that is looped over gives its keys."""
    if isinstance(iterable, Table) and iterable.entries and not iterable.others:
        return Items(items=[Constant(value=key) for key in iterable.entries])
    return iterable


def tabled(keys: list[Value], values: list[Value]) -> Table:
    """A dict from keys, of which some may not be known, and values."""
    table = Table()
    for key, value in zip(keys, values, strict=True):
        if isinstance(key, Constant) and is_hashable(key.value):
            table.entries[key.value] = value
        else:
            table.others.append(value)
    return table


def _sliced(value: Items, index: Op) -> Items:
    bounds = [one.value for one in index.inputs if isinstance(one, Constant)]
    if not value.exact or len(bounds) < 3 or not all(isinstance(one, (int, type(None))) for one in bounds):
        return Items(kind=value.kind, items=list(value.items), exact=False, at=value.at)
    return Items(kind=value.kind, items=value.items[bounds[0] : bounds[1] : bounds[2] or 1], at=value.at)


def store_item(ev: Evaluator, container: Value, index: Value, value: Value, at: s.Span) -> None:
    """`container[index] = value`."""
    match container, index:
        case Table(), Constant(value=key) if is_hashable(key):
            put(ev, container, key, value)
        case Table(), _:
            ev.store.touch(container)
            container.others.append(value)
        case Items(exact=True), Constant(value=int(number)) if (
            -len(container.items) <= number < len(container.items)
        ):
            ev.store.touch(container)
            container.items[number] = value
        case Items(), _:
            ev.store.touch(container)
            container.items.append(value)
            container.exact = False
        case Op(), _ if (module := registry_of(container)) is not None:
            name = index.value if isinstance(index, Constant) else f"module added at {at[0]}"
            ev.set_attribute(module, str(name), value, at)
        case ((Op() | Unknown()), (Op() | Items())):
            noting.note_ignored(ev, container, index, value, at)
            _written(ev, container, index, value, at)
        case Object(), _ if (inside := held(ev, container)) is not None:
            store_item(ev, inside, index, value, at)
        case Choice(), _:
            for _, one in container.options:
                store_item(ev, one, index, value, at)
        case _, Constant(value=key) if is_hashable(key):
            ev.store.set((container.uid, f"[{key!r}]"), value)
            _written(ev, container, index, value, at)
        case _:
            _written(ev, container, index, value, at)


def _written(ev: Evaluator, container: Value, index: Value, value: Value, at: s.Span) -> None:
    if isinstance(container, Op):
        ev.write(container, ev.op("setitem", (container, index, value), at))
        noting.note_overwritten(ev, container, at)


def append(ev: Evaluator, target: Items, value: Value) -> None:
    """`list.append(value)`. In a loop or on a branch, nobody can say how often, or whether at all."""
    ev.store.touch(target)
    certain = ev.certainly_once(target)
    target.items.append(value)
    target.exact = target.exact and certain and len(target.items) < limits.MAX_ITEMS
    target.open_end = not certain


def extend(ev: Evaluator, target: Items, value: Value) -> None:
    """`list += value`."""
    ev.store.touch(target)
    if isinstance(value, Items):
        certain = ev.certainly_once(target)
        items, exact = bounded(ev, [*target.items, *value.items], exact=target.exact and value.exact)
        target.repeated = repeated(target, value)
        target.items, target.exact = items, exact and certain
        target.open_end = not certain or value.open_end
    else:
        target.items.append(value)
        target.exact, target.open_end = False, True


def put(ev: Evaluator, table: Table, key: object, value: Value) -> None:
    """`table[key] = value`, under the conditions that hold here."""
    guards = ev.guards
    before = table.entries.get(key)
    if guards:
        value = one_of(((guards, value), ((), before if before is not None else ev.unknown("missing"))))
    ev.store.touch(table)
    table.entries[key] = value


def call(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """A call of a built-in function."""
    if name in _PASSED_THROUGH:
        return _collected(ev, name, given.args[0] if given.args else None, at)
    host.note_builtin(ev, name, given, at, text)
    do = _FUNCTIONS.get(name)
    made = do(ev, name, given, at, text) if do is not None else None
    if made is not None:
        return made
    if name not in _HARMLESS and not name[:1].isupper():
        ev.emit(Escape, at, values=given.all())
    return ev.op(f"builtins.{name}", given.args, at, text, given.options)


def _dict(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    first = given.args[0] if given.args else None
    if isinstance(first, Table):
        return Table(entries={**first.entries, **given.options}, others=list(first.others))
    return Table(entries=dict(given.options), others=[first] if first is not None else [])


def _map(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    if len(given.args) < 2:
        return None
    mapped = ev.call(given.args[0], Arguments((element(ev, given.args[1], at),)), at, text)
    return Items(kind="list", items=[mapped], exact=False)


def _filter(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return ev.op("filter", (given.args[1],), at, text) if len(given.args) > 1 else None


def _next(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return element(ev, given.args[0], at) if given.args else None


def _setattr(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    if len(given.args) != 3:
        return None
    target, key, value = given.args
    if isinstance(key, Constant) and isinstance(key.value, str):
        ev.set_attribute(target, key.value, value, at)
    elif isinstance(target, Object):
        ev.store.set((target.uid, f"attribute set at {at[0]}"), value)
    else:
        ev.emit(Escape, at, values=(value,))
    return Constant(value=None)


def _number(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    if not given.args or isinstance(given.args[0], Constant):
        return given.args[0] if given.args else None
    return ev.op(f"{name}_number", given.args[:1], at, text)


def _range(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    return ev.op("range", given.args, at, text)


def _sum(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    if not given.args:
        return None
    first = given.args[0]
    return ev.op("sum", tuple(first.items) if isinstance(first, Items) else (first,), at, text)


def _len(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    first = given.args[0] if given.args else None
    return Constant(value=len(first.items)) if isinstance(first, Items) and first.exact else None


def _super(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    match given.args:
        case (ClassValue() as owner, receiver):
            return Super(owner=owner, receiver=receiver)
    return None


def _collected(ev: Evaluator, name: str, first: Value | None, at: s.Span) -> Value:
    match first:
        case None:
            return Items(kind=name, at=ev.place(at))
        case Items():
            return Items(
                kind=first.kind if name in ("iter", "sorted", "reversed") else name,
                items=list(first.items),
                exact=first.exact,
                at=ev.place(at),
            )
        case Object() if (inside := held(ev, first)) is not None and isinstance(inside, Items):
            return Items(kind=name, items=list(inside.items), exact=inside.exact)
    return first


def _paired(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    args = given.args
    if not args:
        return None
    known = [held(ev, one) or one if isinstance(one, Object) else one for one in args]
    lists = [one for one in known if isinstance(one, Items) and one.exact]
    if not lists or any(one not in lists and not is_counter(one) for one in known):
        return ev.op(name, args, at, options=given.options if name == "enumerate" else None)
    ev.spend(sum(len(one.items) for one in lists))
    if name == "enumerate":
        rows = [[Constant(value=number), one] for number, one in enumerate(lists[0].items)]
    else:
        length = min(len(one.items) for one in lists)
        numbers = [ev.unknown("number") for _ in range(length)]
        columns = [one.items if isinstance(one, Items) else numbers for one in known]
        rows = [list(row) for row in zip(*columns, strict=False)]
    return Items(items=[Items(kind="tuple", items=list(row)) for row in rows])


def _getattr(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    args = given.args
    if len(args) < 2:
        return None
    match args[1]:
        case Constant(value=str(attribute), is_default=False):
            found = ev.attribute(args[0], attribute, at, text)
            missing = isinstance(found, Op) and found.name == "getattr"
            if missing and len(args) == 3 and isinstance(args[0], Object):
                return ev.op("call", args, at, text)
            return found
        case _ if isinstance(args[0], Library):
            return Library(name=f"{args[0].name}.?")
    return ev.op("call", args, at, text)


def _isinstance(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    if len(given.args) != 2:
        return None
    value, wanted = given.args
    if (
        isinstance(value, Object)
        and isinstance(wanted, ClassValue)
        and isinstance(value.definition, ClassValue)
    ):
        return Constant(value=wanted in list(classes.ancestry(value.definition)))
    if isinstance(wanted, Library) and isinstance(value, Object) and value.is_a(MODULE):
        if value.is_a(wanted.name):
            return Constant(value=True)
        if wanted.name in _NO_MODULES:
            return Constant(value=False)
    if isinstance(wanted, Library) and isinstance(value, (Items, Table)):
        kind = value.kind if isinstance(value, Items) else "dict"
        return Constant(value=wanted.name == f"builtins.{kind}")
    if isinstance(wanted, Items) and isinstance(value, Items) and wanted.exact:
        return Constant(
            value=any(
                isinstance(one, Library) and one.name == f"builtins.{value.kind}" for one in wanted.items
            )
        )
    if isinstance(wanted, Library) and wanted.name == "torch.Tensor" and is_tensor(value):
        return Constant(value=True)
    if isinstance(value, Op) and value.name == "output" and isinstance(value.inputs[0], (Items, Table)):
        return _isinstance(ev, name, Arguments((value.inputs[0], wanted)), at, text)
    return ev.op("isinstance", given.args, at, text)


def is_instance_of_tensor(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`torch.is_tensor(x)`."""
    return _isinstance(ev, name, Arguments((*given.args, Library(name="torch.Tensor"))), at, text)


def _bool(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    outcome = conditions.truth(given.args[0], ev.known) if len(given.args) == 1 else None
    return None if outcome is None else Constant(value=outcome)


def _hasattr(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    match given.args:
        case (value, Constant(value=str(attribute))) if attribute in TENSORS_ALONE and is_tensor(value):
            return Constant(value=True)
    return None


_FUNCTIONS: dict[str, Callable[[Evaluator, str, Arguments, s.Span, str], Value | None]] = {
    "dict": _dict,
    "enumerate": _paired,
    "zip": _paired,
    "map": _map,
    "filter": _filter,
    "next": _next,
    "getattr": _getattr,
    "setattr": _setattr,
    "float": _number,
    "int": _number,
    "range": _range,
    "sum": _sum,
    "isinstance": _isinstance,
    "hasattr": _hasattr,
    "bool": _bool,
    "len": _len,
    "super": _super,
}
"""Functions that give something of their own; a result of None is that of any other call."""


def is_hashable(value: object) -> bool:
    """Whether a constant can be the key of a dict."""
    return isinstance(value, (str, int, float, bool, bytes, type(None)))
