"""Python's own functions, as far as values pass through them."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import LOADER, MODULE, PARAMETER
from trainlint.facts.api.operations import TENSORS_ALONE
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.events.batches import Begun
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.values import (
    Constant,
    Items,
    Object,
    Op,
    Table,
    Value,
    Written,
    one_of,
    ways,
)
from trainlint.program.api import counted, dicts, filling, host
from trainlint.program.api.elements import element, held, items_of, listed, next_of
from trainlint.program.api.lists import is_counter, is_unrolled, unrolled
from trainlint.program.evaluate import classes, conditions, keys, namespaces, picked_by_name
from trainlint.program.evaluate.values import (
    Arguments,
    ClassValue,
    FileModule,
    FunctionValue,
    Library,
    Super,
)
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


NAMES = frozenset(dir(builtins))


_NO_MODULES = frozenset((PARAMETER, "torch.Tensor"))


_PASSED_THROUGH = frozenset(("list", "tuple", "iter", "reversed", "sorted", "set", "frozenset"))


_ABSTRACT = {
    "dict": ("Mapping", "MutableMapping"),
    "list": ("Sequence", "MutableSequence"),
    "tuple": ("Sequence",),
}
"""Other names of the types of containers."""

_NO_TENSORS = frozenset((*_ABSTRACT, *(name for names in _ABSTRACT.values() for name in names)))


_HARMLESS = frozenset(
    "print repr str len range isinstance issubclass hasattr id type hash format round abs min max sum any all "
    "bool open input vars dir callable ord chr bytes divmod pow hex bin object slice".split()
)


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


def _map(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    if len(given.args) < 2:
        return None
    first = listed(given.args[1])
    if len(given.args) == 2 and isinstance(first, Items) and is_unrolled(ev, first):
        with unrolled(ev, first):
            each = [ev.call(given.args[0], Arguments((one,)), at, text) for one in tuple(first.items)]
        return Items(kind="generator", items=each)
    items = tuple(element(ev, one, at) for one in given.args[1:])
    mapped = ev.call(given.args[0], Arguments(items), at, text)
    return Items(kind="list", items=[mapped], exact=False)


def _filter(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    match given.args:
        case (FunctionValue() as asks, Items(items=[_, *_]) as over) if is_unrolled(ev, over):
            with unrolled(ev, over):
                kept = [(one, ev.call(asks, Arguments((one,)), at, text)) for one in tuple(over.items)]
            outcomes = [conditions.truth(outcome, ev.known) for _, outcome in kept]
            if None not in outcomes:
                return Items(
                    kind="generator",
                    items=[one for (one, _), is_kept in zip(kept, outcomes, strict=True) if is_kept],
                )
    return ev.op("filter", (given.args[1],), at, text) if len(given.args) > 1 else None


def _next(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    match given.args:
        case (Items(exact=True) as iterator, *rest) if ev.certainly_once(iterator):
            if not iterator.items:
                return rest[0] if rest else None
            found = iterator.items[0]
            filling.take(ev, iterator, Constant(value=0))
            return found
        case (Object() as iterator, *_) if (drawn := next_of(ev, iterator, at)) is not None:
            return drawn
        case (iterator, *_):
            return element(ev, iterator, at)
    return None


def _setattr(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    if len(given.args) != 3:
        return None
    target, key, value = given.args
    if isinstance(key, Constant) and isinstance(key.value, str):
        ev.set_attribute(target, key.value, value, at)
    elif isinstance(target, Object):
        ev.store.set((target.uid, f"{keys.BY_A_NAME}{at[0]}"), value)
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


_KINDS = {"staticmethod": "static", "classmethod": "class", "property": "property"}


def _of_class(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`staticmethod(function)`, `property(getter, setter)`."""
    getter, setter = given.get(0, "fget"), given.get(1, "fset")
    if not isinstance(getter, FunctionValue):
        return getter if name == "staticmethod" else None
    return replace(getter, kind=_KINDS[name], setter=setter if isinstance(setter, FunctionValue) else None)


def _class_made(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`type(model)`, where the program defines the class."""
    match given.args:
        case (Object(definition=ClassValue() as cls),):
            return cls
    return None


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
                items=first.items[::-1] if name == "reversed" else list(first.items),
                exact=first.exact,
                at=ev.place(at),
            )
        case Object() if (inside := held(ev, first)) is not None and isinstance(inside, Items):
            return Items(kind=name, items=list(inside.items), exact=inside.exact)
        case Object() if name == "iter" and first.is_a(LOADER):
            ev.emit(Begun, at, loader=first)
        case Object() if name != "iter" and (inside := items_of(ev, first, at)) is not None:
            return Items(kind=name, items=list(inside.items), exact=inside.exact)
        case Op() if name == "reversed" and (turned := counted.backwards(first)) is not None:
            return ev.op("range", turned, at)
    return first


def _paired(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    args = given.args
    if not args:
        return None
    known = [held(ev, one) or one if isinstance(one, Object) else one for one in args]
    if name == "zip":
        known = [counted.numbers(one) or one for one in known]
    turned = _columns(ev, known) if name == "zip" else None
    if turned is not None:
        return turned
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


def _columns(ev: Evaluator, args: list[Value]) -> Items | None:
    """`zip(*rows)` of rows of which each holds as many items: a column of each."""
    match args:
        case [Items(kind="star", exact=False, items=[Items(exact=True) as first, *_] as rows)]:
            width = len(first.items)
        case _:
            return None
    if not width or not all(isinstance(one, Items) and one.exact and len(one.items) == width for one in rows):
        return None
    ev.spend(width * len(rows))
    columns = zip(*(one.items for one in rows if isinstance(one, Items)), strict=True)
    return Items(items=[Items(kind="tuple", items=list(one), exact=False) for one in columns])


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
        case _ if isinstance(args[0], FileModule):
            return picked_by_name.picked(ev, args[0], args[1], at)
        case Written() if isinstance(args[0], Object) and (several := _held_by_names(ev, args[0])):
            return one_of(((), one) for one in several)
    return ev.op("call", args, at, text)


def _held_by_names(ev: Evaluator, holder: Object) -> list[Value]:
    """What an object holds under names that the program computes, as `f"mask_{size}"`, where these are tensors, or where one
    place alone sets such names."""
    held = [one for key, one in ev.store.owned(holder.uid).items() if key.startswith(keys.BY_A_NAME)]
    return held if len(held) == 1 or all(isinstance(one, Op) for one in held) else []


def _eval(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return picked_by_name.of_text(ev, given.args[0], at) if given.args else None


def _namespace(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    match given.args:
        case ():
            return namespaces.of_file(ev, ev.env.path) if name == "globals" else namespaces.of_scope(ev)
        case (FileModule() | Object() | Library() as holder,) if name == "vars":
            return ev.attribute(holder, "__dict__", at)
    return None


_SCHEDULERS = "torch.optim.lr_scheduler."
_BASES_OF_SCHEDULERS = (f"{_SCHEDULERS}LRScheduler", f"{_SCHEDULERS}_LRScheduler")


def _is_scheduler(value: Value, wanted: str) -> bool | None:
    """Whether a value is one of torch's schedulers, of a class without subclasses: `isinstance(x, ReduceLROnPlateau)`."""
    match value:
        case Constant(value=None, is_default=False):
            return False
        case Object() if value.is_a(wanted):
            return True
        case Object() if value.type.startswith(_SCHEDULERS) and "?" not in value.type:
            return None if wanted in _BASES_OF_SCHEDULERS else False
    return None


def _isinstance(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    if len(given.args) != 2:
        return None
    value, wanted = given.args
    if isinstance(wanted, Library) and wanted.name.startswith(_SCHEDULERS):
        found = [(guards, _is_scheduler(one, wanted.name)) for guards, one in ways(value)]
        if all(outcome is not None for _, outcome in found):
            return one_of((guards, Constant(value=outcome)) for guards, outcome in found)
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
    types = wanted.items if isinstance(wanted, Items) and wanted.exact else [wanted]
    if all(isinstance(one, Library) for one in types):
        kinds = {one.name.rpartition(".")[2] for one in types if isinstance(one, Library)}
        if isinstance(value, (Items, Table)):
            kind = value.kind if isinstance(value, Items) else "dict"
            return Constant(value=kind in kinds or not kinds.isdisjoint(_ABSTRACT.get(kind, ())))
        if "Tensor" in kinds and is_tensor(value):
            return Constant(value=True)
        if kinds <= _NO_TENSORS and is_tensor(value):
            return Constant(value=False)
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


def _dict_of_keys(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`dict.fromkeys(names, value)`."""
    match given.args:
        case (Items(exact=True, items=names), *value):
            held = value[0] if value else Constant(value=None)
            return filling.tabled(list(names), [held] * len(names))
    return None


_FUNCTIONS: dict[str, Callable[[Evaluator, str, Arguments, s.Span, str], Value | None]] = {
    "dict": dicts.new_dict,
    "enumerate": _paired,
    "zip": _paired,
    "map": _map,
    "filter": _filter,
    "next": _next,
    "eval": _eval,
    "getattr": _getattr,
    **dict.fromkeys(("globals", "locals", "vars"), _namespace),
    "setattr": _setattr,
    "float": _number,
    "int": _number,
    "range": _range,
    "sum": _sum,
    "isinstance": _isinstance,
    "hasattr": _hasattr,
    "bool": _bool,
    "len": _len,
    "dict.fromkeys": _dict_of_keys,
    **dict.fromkeys(("staticmethod", "classmethod", "property"), _of_class),
    "type": _class_made,
    "object.__setattr__": _setattr,
    "object.__getattribute__": _getattr,
    "super": _super,
}
"""Functions that give something of their own; a result of None is that of any other call."""
