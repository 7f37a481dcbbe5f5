"""Functions and classes of Python's own library that hand values on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trainlint.facts.model.values import Constant, Items, Object, Op, Table, Value
from trainlint.program.api import defaults, dicts, methods, subscripts
from trainlint.program.api.elements import held
from trainlint.program.evaluate import keys
from trainlint.program.evaluate.values import Arguments, Bound, FunctionValue, Library, Partial
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_Call = Callable[["Evaluator", str, Arguments, s.Span, str], Value | None]

_MOST_REDUCED = 32
"""Items that a function is called with one after the other; of more, nothing is known of the result."""


def _partial(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    if not given.args:
        return None
    return Partial(function=given.args[0], args=given.args[1:], options=given.options)


def _partial_method(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """A method some of whose arguments a class has given."""
    made = _partial(ev, name, given, at, text)
    if isinstance(made, Partial):
        made.is_method = True
    return made


def _bound(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`MethodType(function, holder)`."""
    match given.args:
        case (FunctionValue() as function, holder):
            return Bound(receiver=holder, name=function.origin.code.name, function=function)
    return None


def _ordered(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    first = given.args[0] if given.args else None
    if isinstance(first, Items) and dicts.of_pairs(first) is None:
        return first
    if isinstance(first, Op) and first.name != "state_dict":
        return Table(loops=ev.loops)
    return dicts.new_dict(ev, name, given, at, text)


def _empty_dict(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    return defaults.made(ev, given)


def _empty_queue(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    return Items(exact=False)


def namespace(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Object:
    made = ev.object(name, frozenset((name,)), at, given)
    for option, value in given.options.items():
        ev.store.set((made.uid, option), value)
    return made


def _record_class(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
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


def _record(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    fields, *values = given.args
    names = [str(one.value) for one in fields.parts() if isinstance(one, Constant)]
    made = ev.object("collections.namedtuple", frozenset(("collections.namedtuple",)), at, given)
    for place, field in enumerate(names):
        value = values[place] if place < len(values) else given.options.get(field, ev.unknown(field))
        ev.store.set((made.uid, field), value)
        ev.store.set((made.uid, keys.item(place)), value)
    return made


def _getter(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`itemgetter("logits")`: a function that takes one item, or one attribute, of what it is given."""
    if len(given.args) != 1:
        return None
    return Partial(function=Library(name=f"{name}()"), args=given.args)


def _item_got(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return subscripts.item(ev, given.args[1], given.args[0], at) if len(given.args) == 2 else None


def _attribute_got(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    match given.args:
        case (Constant(value=str(attribute)), value) if "." not in attribute:
            return ev.attribute(value, attribute, at, text)
    return None


def _method_caller(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return Partial(function=Library(name="operator.methodcaller()"), args=(Items(items=list(given.args)),))


def _method_called(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    match given.args:
        case (Items(items=[Constant(value=str(method)), *others]), value):
            return methods.call_method(ev, value, method, Arguments(tuple(others)), at, text)
    return None


def _starmap(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`starmap(f, rows)`: a function that is called with what each row holds."""
    match given.args:
        case (function, Items(exact=True, items=rows)) if len(rows) <= _MOST_REDUCED and all(
            map(_is_row, rows)
        ):
            each = [ev.call(function, Arguments(tuple(row.parts())), at, text) for row in tuple(rows)]
            return Items(kind="generator", items=each)
    return None


def _is_row(value: Value) -> bool:
    return isinstance(value, Items) and value.exact


def _reduced(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`reduce(lambda x, layer: layer(x), layers, x)`: one call after the other."""
    if len(given.args) not in (2, 3):
        return None
    function, over, *start = given.args
    inside = held(ev, over) if isinstance(over, Object) else over
    if not isinstance(inside, Items) or not inside.exact or len(inside.items) > _MOST_REDUCED:
        return None
    left = [*start, *inside.items]
    if not left:
        return None
    result = left[0]
    for one in left[1:]:
        result = ev.call(function, Arguments((result, one)), at, text)
    return result


_RECORD = "collections.namedtuple()"

STANDARD: dict[str, _Call] = {
    "functools.partial": _partial,
    "functools.partialmethod": _partial_method,
    "types.MethodType": _bound,
    "functools.reduce": _reduced,
    "collections.OrderedDict": _ordered,
    "collections.defaultdict": _empty_dict,
    "collections.deque": _empty_queue,
    "collections.namedtuple": _record_class,
    _RECORD: _record,
    "types.SimpleNamespace": namespace,
    "operator.itemgetter": _getter,
    "operator.itemgetter()": _item_got,
    "operator.attrgetter": _getter,
    "operator.attrgetter()": _attribute_got,
    "operator.methodcaller": _method_caller,
    "operator.methodcaller()": _method_called,
    "itertools.starmap": _starmap,
}
"""What they do; a result of None is that of any other call."""
