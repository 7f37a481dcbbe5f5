"""The shape of a tensor, as far as sizes are written in the source."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER
from trainlint.facts.ask.asking import question
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Items,
    Object,
    Op,
    Value,
    alternatives,
    constant,
)

Sizes = tuple[int | None, ...]
"""The size of each axis; None for one that is not known."""

_MADE = frozenset("randn rand zeros ones empty".split())
_SAME = frozenset(
    "output relu gelu tanh sigmoid softmax log_softmax logsigmoid exp log abs clamp dropout float double half bfloat16 "
    "long to cuda cpu detach data contiguous clone requires_grad_ identity neg sqrt layer_norm Variable "
    "torch.nn.ReLU torch.nn.LeakyReLU torch.nn.GELU torch.nn.SiLU torch.nn.ELU torch.nn.Tanh torch.nn.Dropout "
    "torch.nn.LayerNorm torch.nn.BatchNorm1d torch.nn.Softplus".split()
)
"""Operations whose result has the shape of their first input."""

_ARITHMETIC = frozenset("+ - * / % add sub mul div **".split())
_REDUCES = frozenset("sum mean amax amin prod norm argmax argmin".split())


@question(start=None, unknown=None)
def shape_read(value: Value | None) -> Sizes | None:
    """The shape that a tensor certainly has; None where it is not known how many axes there are."""
    if isinstance(value, Carried):
        return shape_read(value.start) if value.back is None else None
    if not isinstance(value, Choice):
        return _of(value) if value is not None else None
    found = set(map(shape_read, alternatives(value)))
    return found.pop() if len(found) == 1 else None


def _of(value: Value) -> Sizes | None:
    if not isinstance(value, Op):
        return () if isinstance(value, Constant) and isinstance(value.value, (int, float)) else None
    name, inputs = value.name, value.inputs
    if name in _MADE:
        return _sizes(value.options.get("size"), inputs)
    if name == "randint":
        return _drawn(value)
    if name == "tensor" and inputs:
        return _nested(inputs[0])
    if not inputs:
        return None
    if name == "getitem":
        return _item(value)
    first = shape_read(inputs[0])
    if name in _ARITHMETIC and len(inputs) == 2:
        return _together(first, shape_read(inputs[1]))
    if first is None:
        return None
    if name in _SAME:
        return first
    if name == "linear" and value.owner is not None and first:
        return (*first[:-1], _int(value.owner.argument(1, "out_features")))
    if name == "torch.nn.Embedding" and value.owner is not None:
        return (*first, _int(value.owner.argument(1, "embedding_dim")))
    if name in ("matmul", "@"):
        second = shape_read(inputs[1]) if len(inputs) == 2 else None
        if second is not None and len(first) >= 1 and len(second) in (1, 2):
            return (*first[:-1], *second[1:])
        return None
    return _changed(value, first)


def _changed(op: Op, before: Sizes) -> Sizes | None:
    """The shape after an operation that adds, drops or joins axes."""
    match op.name:
        case "unsqueeze":
            axis = _int(op.option(1, "dim"))
            return _with_axis(before, axis) if axis is not None else None
        case "squeeze":
            return _squeezed(op, before)
        case "view" | "reshape":
            return _sizes(None, op.inputs[1:])
        case "flatten":
            return _flattened(op, before)
        case name if name in _REDUCES:
            return _reduced(op, before)
    return None


def _sizes(given: Value | None, inputs: tuple[Value, ...]) -> Sizes | None:
    items = list(inputs)
    if given is not None:
        items = [given]
    if len(items) == 1 and isinstance(items[0], Items):
        if not items[0].exact:
            return None
        items = items[0].items
    elif len(items) == 1 and _int(items[0]) is None:
        return None
    if not items or any(isinstance(one, Items) for one in items):
        return None
    return tuple(size if size is None or size >= 0 else None for size in map(_int, items))


def _drawn(op: Op) -> Sizes | None:
    """`randint(high, size)` and `randint(low, high, size)`."""
    given = op.options.get("size") or next((one for one in op.inputs[1:3] if isinstance(one, Items)), None)
    return _sizes(given, ()) if given is not None else None


@question(start=None, unknown=None)
def _nested(value: Value) -> Sizes | None:
    """The shape of a tensor made of a list."""
    if isinstance(value, Constant):
        return ()
    if not isinstance(value, Items) or not value.exact or not value.items:
        return None
    inner = {_nested(one) for one in value.items}
    only = inner.pop() if len(inner) == 1 else None
    return (len(value.items), *only) if only is not None else None


def _item(op: Op) -> Sizes | None:
    """A part of a batch that a loader hands out, or a row, or a slice, of a tensor."""
    whole, index = op.inputs[0], op.options.get("index")
    if isinstance(whole, Op) and whole.name == "iterate" and isinstance(whole.inputs[0], Object):
        return _of_batch(whole.inputs[0], constant(index))
    if isinstance(whole, Op) and whole.name in ("max", "min", "topk", "sort") and len(whole.inputs) > 1:
        return _best(whole)
    before = shape_read(whole)
    if not before:
        return None
    if isinstance(index, Op) and index.name == "[:]":
        return (None, *before[1:])
    return before[1:] if isinstance(constant(index), int) else None


def _best(op: Op) -> Sizes | None:
    """The values, or the indices, that `max(dim)` gives."""
    before = shape_read(op.inputs[0])
    return _reduced(op, before) if before and op.name in ("max", "min") else None


def _of_batch(loader: Object, position: object) -> Sizes | None:
    """What a loader over a `TensorDataset` stacks, however many there are."""
    data = loader.argument(0, "dataset")
    plain = loader.type == LOADER and not loader.is_open and "collate_fn" not in loader.options
    if not plain or constant(loader.argument(1, "batch_size")) is None or not isinstance(position, int):
        return None
    if (
        not isinstance(data, Op)
        or data.name != "torch.utils.data.TensorDataset"
        or position >= len(data.inputs)
    ):
        return None
    whole = shape_read(data.inputs[position])
    return (None, *whole[1:]) if whole else None


def _together(first: Sizes | None, second: Sizes | None) -> Sizes | None:
    """What two tensors are broadcast to, where that is certain."""
    if first == () or first == second:
        return second
    if second == ():
        return first
    return None


def _with_axis(before: Sizes, axis: int) -> Sizes | None:
    place = axis if axis >= 0 else len(before) + 1 + axis
    return (*before[:place], 1, *before[place:]) if 0 <= place <= len(before) else None


def _squeezed(op: Op, before: Sizes) -> Sizes | None:
    given = op.option(1, "dim")
    if given is None:
        return tuple(size for size in before if size != 1) if None not in before[1:] else None
    axis = _int(given)
    if axis is None or not -len(before) <= axis < len(before):
        return None
    place = axis % len(before)
    if before[place] is None:
        return None
    return (*before[:place], *before[place + 1 :]) if before[place] == 1 else before


def _flattened(op: Op, before: Sizes) -> Sizes | None:
    is_layer = op.owner is not None
    own = op.owner.argument if op.owner is not None else None
    first = own(0, "start_dim") if own is not None else op.option(1, "start_dim")
    last = own(1, "end_dim") if own is not None else op.option(2, "end_dim")
    start = _int(first) if first is not None else int(is_layer)
    end = _int(last) if last is not None else -1
    if start is None or end is None or not before:
        return None
    start, end = start % len(before), end % len(before)
    joined = list(_product(before[start : end + 1]))
    return (*before[:start], joined[0] if joined else None, *before[end + 1 :])


def _product(sizes: Sizes) -> Iterator[int]:
    total = 1
    for size in sizes:
        if size is None:
            return
        total *= size
    yield total


def _reduced(op: Op, before: Sizes) -> Sizes | None:
    given = op.option(1, "dim")
    if given is None:
        return ()
    axis = _int(given)
    keeps = constant(op.option(2, "keepdim")) if op.option(2, "keepdim") is not None else False
    if axis is None or not isinstance(keeps, bool) or not -len(before) <= axis < len(before):
        return None
    place = axis % len(before)
    return (*before[:place], *((1,) if keeps else ()), *before[place + 1 :])


def _int(value: Value | None) -> int | None:
    sign = 1
    while isinstance(value, Op) and value.name == "-" and len(value.inputs) == 1:
        sign, value = -sign, value.inputs[0]
    found = constant(value)
    return sign * found if isinstance(found, int) and not isinstance(found, bool) else None
