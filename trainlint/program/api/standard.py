"""Functions and classes of Python's own library that hand values on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trainlint.facts.model.values import BOUNDED, Constant, Items, Object, Op, Table, Value
from trainlint.program.api import builtin, defaults, dicts, iterators
from trainlint.program.api.elements import held
from trainlint.program.api.operators import OPERATORS
from trainlint.program.api.records import RECORDS
from trainlint.program.api.waiting import WAITING
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


def _queue(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    first, most = given.get(0, "iterable"), given.get(1, "maxlen")
    kind = BOUNDED if most is not None and not _is_none(most) else "list"
    return Items(kind=kind, items=list(first.items) if isinstance(first, Items) else [], exact=False)


def _is_none(value: Value) -> bool:
    return isinstance(value, Constant) and value.value is None


def _itself(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return given.args[0] if given.args else None


def _referred(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`weakref.ref(model)`: a function that gives it back."""
    return Partial(function=Library(name="weakref.ref()"), args=given.args[:1]) if given.args else None


def _chained_dicts(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`ChainMap(first, second)`: the first wins."""
    if not given.args or not all(isinstance(one, Table) for one in given.args):
        return None
    made = Table(loops=ev.loops)
    for one in reversed(given.args):
        if isinstance(one, Table):
            made.entries.update(one.entries)
            made.others.extend(one.others)
    return made


def _zipped(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`zip_longest(first, second)`, of lists that are as long as each other."""
    lengths = {len(one.items) if isinstance(one, Items) and one.exact else None for one in given.args}
    if len(lengths) != 1 or None in lengths:
        return None
    return builtin.call(ev, "zip", Arguments(given.args), at, text)


def _sliced(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`islice(items, 2)`, of a list whose items are all known."""
    match given.args:
        case (Items(exact=True, items=items), *bounds) if bounds and all(
            isinstance(one, Constant) and isinstance(one.value, (int, type(None))) for one in bounds
        ):
            cut = slice(*(one.value for one in bounds if isinstance(one, Constant)))
            return Items(kind="generator", items=items[cut])
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


STANDARD: dict[str, _Call] = {
    "functools.partial": _partial,
    "functools.partialmethod": _partial_method,
    "types.MethodType": _bound,
    "functools.reduce": _reduced,
    "collections.OrderedDict": _ordered,
    "collections.defaultdict": _empty_dict,
    "collections.deque": _queue,
    "types.SimpleNamespace": namespace,
    "itertools.starmap": _starmap,
    "itertools.chain": iterators.chained,
    "itertools.chain.from_iterable": iterators.chained_from,
    "itertools.product": iterators.crossed,
    **dict.fromkeys(("itertools.cycle", "itertools.repeat"), iterators.repeated),
    "itertools.tee": iterators.copied,
    "itertools.accumulate": iterators.accumulated,
    "itertools.zip_longest": _zipped,
    "itertools.islice": _sliced,
    "weakref.proxy": _itself,
    "weakref.ref": _referred,
    "weakref.ref()": _itself,
    "types.MappingProxyType": _itself,
    "collections.ChainMap": _chained_dicts,
    **dict.fromkeys(("queue.Queue", "queue.SimpleQueue", "queue.LifoQueue"), _empty_queue),
    "contextlib.ExitStack": namespace,
    **OPERATORS,
    **WAITING,
    **RECORDS,
}
"""What they do; a result of None is that of any other call."""
