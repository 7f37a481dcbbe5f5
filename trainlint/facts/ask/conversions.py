"""Conversions that change nothing: `x.to(device)` is `x` where `x` is on that device already."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.precision import dtype_of
from trainlint.facts.model.values import Constant, Op, Value

_CASTS = {"float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16"}
_PLACES = ("cuda", "cpu")

CONVERSIONS = frozenset(("to", *_CASTS, *_PLACES))
"""Methods that give the tensor itself where it is what they ask for."""


def gives_itself(conversion: Op, data: Value) -> bool:
    """Whether a conversion of a tensor that was made of this data gives that tensor: the data is where it asks for, by the
    same expression, and of the type that it asks for."""
    if conversion.name not in CONVERSIONS:
        return False
    ops = [one for one in reached([data]) if isinstance(one, Op)]
    at_first = "" if any(one.name == "from_numpy" for one in ops) else "float32"
    dtypes = {dtype for one in ops for dtype in _dtypes(one)} or {at_first}
    places = {place for one in ops for place in _places(one)} or {("constant", "cpu")}
    return all({dtype} == dtypes for dtype in _dtypes(conversion)) and all(
        {place} == places for place in _places(conversion)
    )


def _dtypes(op: Op) -> Iterator[str]:
    """The types that an operation asks for."""
    yield from filter(None, map(dtype_of, _asked(op)))
    if op.name in _CASTS:
        yield _CASTS[op.name]


def _places(op: Op) -> Iterator[Hashable]:
    """The devices that an operation asks for."""
    found = [_spelled(one) for one in _asked(op) if not dtype_of(one)]
    yield from found
    if op.name in _PLACES and not found:
        yield ("constant", op.name)


def _asked(op: Op) -> Iterator[Value]:
    given = op.inputs[1:] if op.name in ("to", "cuda") else ()
    named = (op.options[name] for name in ("device", "dtype") if name in op.options)
    return (one for one in (*given, *named) if not _is_no_device(one))


def _is_no_device(value: Value) -> bool:
    """Whether it is a flag such as `non_blocking`, or None, which asks for nothing."""
    return isinstance(value, Constant) and (value.value is None or isinstance(value.value, bool))


@question(start=(), unknown=())
def _spelled(value: Value) -> Hashable:
    """The same for two values that are the same device wherever both are known."""
    match value:
        case Constant(is_default=False):
            return ("constant", value.value)
        case Op(name="device", inputs=(Value() as named,)):
            return _spelled(named)
    return value.uid
