"""The shape of a tensor, as far as sizes are written in the source."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from trainlint.facts.ask.arrays import sizes_of_array
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.new_axes import is_none, is_rest, is_whole, new_axis
from trainlint.facts.ask.numbers import is_whole as is_whole_number
from trainlint.facts.ask.samples import Sample, is_column, sample_of
from trainlint.facts.model.elements import plain
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Items,
    Op,
    Value,
    alternatives,
    constant,
)

Sizes = tuple[int | None, ...]
"""The size of each axis; None for one that is not known."""

_MADE = frozenset("randn rand zeros ones empty".split())
_SAME = frozenset(
    "output relu leaky_relu elu gelu silu tanh sigmoid softmax log_softmax logsigmoid exp log abs clamp dropout float double half "
    "bfloat16 long int bool astype to cuda cpu detach data alias contiguous clone requires_grad_ identity neg not sqrt layer_norm Variable torch.nn.Parameter sin cos log1p "
    "expm1 sign floor ceil round square rsqrt reciprocal pow softplus "
    "zeros_like ones_like rand_like randn_like full_like empty_like "
    "torch.nn.ReLU torch.nn.LeakyReLU torch.nn.GELU torch.nn.SiLU torch.nn.ELU torch.nn.Tanh torch.nn.Dropout "
    "torch.nn.LayerNorm torch.nn.BatchNorm1d torch.nn.Softplus".split()
)
"""Operations whose result has the shape of their first input."""

_ARITHMETIC = frozenset(
    "+ - * / % ** < <= > >= == != and or where masked_fill maximum minimum pow lerp addcmul addcdiv".split()
)
"""Operations whose result has the shape that their inputs are broadcast to."""
_REDUCES = frozenset("sum mean amax amin prod norm argmax argmin std var".split())
_TENSORS = frozenset("tensor as_tensor from_numpy numpy.array numpy.asarray".split())
_SPREADS = ("std", "var")
_JOINS = ("stack", "cat", "concat")
_PIECES = ("split", "chunk")
_PRODUCTS = ("matmul", "@")
_TURNS = ("transpose", "swapaxes", "permute", "t", "T")


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
    name = value.name
    if value.drawn is not None:
        made = sample_of(value)
        return _of_sample(made) if made is not None else None
    if name in _MADE:
        return _sizes(value.options.get("size"), value.inputs)
    if name == "randint":
        return _drawn(value)
    given = sizes_of_array(value)
    if given is not None:
        return _sizes(given, ())
    return _made_of(value) if value.inputs else None


def _made_of(op: Op) -> Sizes | None:
    """The shape of what an operation makes of other values."""
    inputs = op.inputs
    match op.name:
        case "randperm" | "arange":
            return (_int(inputs[0]) if len(inputs) == 1 else None,)
        case "float_number" | "int_number" | "item":
            return ()
        case name if name in _TENSORS:
            return _nested(inputs[0])
        case "view" | "reshape" if (written := _sizes(None, inputs[1:])) is not None:
            return written
        case "flatten" | "ravel" if len(inputs) == 1 and not op.options and op.owner is None:
            return (None,)
        case "getitem":
            return _item(op)
        case "iterate":
            return _each(inputs[0])
        case "getattr" if constant(op.options.get("name")) in ("values", "indices"):
            best = _best(inputs[0]) if isinstance(inputs[0], Op) else None
            return (None,) if is_column(op) else best
        case "call" if is_column(op):
            return (None,)
        case name if name in _JOINS:
            return _joined(op)
    if is_broadcast(op):
        return reduce(_together, map(shape_read, inputs))
    before = shape_read(inputs[0])
    if before is None or keeps_shape(op):
        return before
    return _of_layer(op, before) if op.owner is not None or op.name in _PRODUCTS else _changed(op, before)


def keeps_shape(op: Op) -> bool:
    """Whether the result has the shape of the first input, whatever that is."""
    if op.name in _SAME or (len(op.inputs) == 1 and op.name in _ARITHMETIC):
        return True
    name = plain(op)
    return name in _SAME or (name in _ARITHMETIC and (len(op.inputs) == 1 or op.name.endswith("_")))


def is_broadcast(op: Op) -> bool:
    """Whether the result has the shape that all inputs are broadcast to; one that is written into keeps its own."""
    if len(op.inputs) < 2 or op.name.endswith("_"):
        return False
    return op.name in _ARITHMETIC or plain(op) in _ARITHMETIC


def _of_layer(op: Op, before: Sizes) -> Sizes | None:
    """The shape that a layer with features, or a product of matrices, gives."""
    if op.name == "linear" and op.owner is not None and before:
        return (*before[:-1], _int(op.owner.argument(1, "out_features")))
    if op.name == "torch.nn.Embedding" and op.owner is not None:
        return (*before, _int(op.owner.argument(1, "embedding_dim")))
    if op.name in _PRODUCTS:
        second = shape_read(op.inputs[1]) if len(op.inputs) == 2 else None
        if second is not None and len(before) >= 1 and len(second) in (1, 2):
            return (*before[:-1], *second[1:])
        return None
    return _changed(op, before)


def _changed(op: Op, before: Sizes) -> Sizes | None:
    """The shape after an operation that adds, drops or joins axes."""
    match op.name:
        case "unsqueeze":
            axis = _int(op.option(1, "dim"))
            return _with_axis(before, axis) if axis is not None else None
        case "squeeze":
            return _squeezed(op, before)
        case "flatten":
            return _flattened(op, before)
        case name if name in _REDUCES:
            return _reduced(op, before)
        case name if name in _TURNS:
            return _turned(op, before)
    return None


def _turned(op: Op, before: Sizes) -> Sizes | None:
    """The shape after axes changed places."""
    given = op.inputs[1].items if len(op.inputs) == 2 and isinstance(op.inputs[1], Items) else op.inputs[1:]
    axes = [_int(one) for one in given]
    rank = len(before)
    if not all(one is not None and -rank <= one < rank for one in axes):
        return None
    places = [one % rank for one in axes if one is not None]
    if op.name in ("t", "T"):
        return before[::-1] if rank == 2 else None
    if op.name == "permute":
        return tuple(before[place] for place in places) if len(places) == rank else None
    if len(places) != 2:
        return None
    order = {places[0]: places[1], places[1]: places[0]}
    return tuple(before[order.get(place, place)] for place in range(rank))


def _joined(op: Op) -> Sizes | None:
    """What tensors of one shape become that are stacked, or stand one behind the other."""
    pieces = op.inputs[0]
    if not isinstance(pieces, Items) or not pieces.items:
        return None
    shapes = set(map(shape_read, pieces.items))
    axis = _int(op.option(1, "dim")) if op.option(1, "dim") is not None else 0
    if axis is None or None in shapes:
        return None
    if op.name == "stack":
        only = shapes.pop() if len(shapes) == 1 else None
        count = len(pieces.items) if pieces.exact else None
        return _with_axis(only, axis, count) if only is not None else None
    ranks = {len(one) for one in shapes if one is not None}
    if len(ranks) != 1 or not -max(ranks) <= axis < max(ranks):
        return None
    rank = ranks.pop()
    sides = [{one[n] for one in shapes if one is not None} for n in range(rank)]
    return tuple(None if n == axis % rank or len(side) > 1 else side.pop() for n, side in enumerate(sides))


def _each(whole: Value) -> Sizes | None:
    """A row of a tensor, or one of the parts that it was cut into."""
    if isinstance(whole, Op) and whole.name in _PIECES:
        return _piece(whole)
    before = shape_read(whole)
    return before[1:] if before else None


def _piece(cut: Op) -> Sizes | None:
    before = shape_read(cut.inputs[0]) if cut.inputs else None
    axis = _int(cut.option(2, "dim")) if cut.option(2, "dim") is not None else 0
    if not before or axis is None or not -len(before) <= axis < len(before):
        return None
    place = axis % len(before)
    return (*before[:place], None, *before[place + 1 :])


def _sizes(given: Value | None, inputs: tuple[Value, ...]) -> Sizes | None:
    items = list(inputs)
    if given is not None:
        items = [given]
    if len(items) == 1 and isinstance(items[0], Items):
        if not items[0].exact:
            return None
        items = items[0].items
    elif len(items) == 1 and _int(items[0]) is None and not is_whole_number(items[0]):
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
    """The shape of a tensor made of a list, or of an array."""
    if not isinstance(value, Items):
        return () if isinstance(value, Constant) else shape_read(value)
    if not value.exact or not value.items:
        return None
    inner = {_nested(one) for one in value.items}
    only = inner.pop() if len(inner) == 1 else None
    return (len(value.items), *only) if only is not None else None


def _item(op: Op) -> Sizes | None:
    """A part of a batch that a loader hands out, or a row, or a slice, of a tensor."""
    whole, index = op.inputs[0], op.options.get("index")
    if isinstance(whole, Op) and whole.name in ("max", "min", "topk", "sort") and len(whole.inputs) > 1:
        return _best(whole)
    if isinstance(whole, Op) and whole.name in _PIECES and isinstance(constant(index), int):
        return _piece(whole)
    before = shape_read(whole)
    added = new_axis(op)
    if before is not None and added is not None:
        return _with_axis(before, added)
    if not before:
        return None
    if isinstance(index, Items):
        return _indexed(before, index)
    chosen = shape_read(index) if isinstance(index, Op) else None
    if isinstance(index, Op) and (index.name == "[:]" or (chosen is not None and len(chosen) == 1)):
        return (None, *before[1:])
    return before[1:] if index is not None and is_whole_number(index) else None


def _indexed(before: Sizes, index: Items) -> Sizes | None:
    """`x[:, None, 0]`, `x[..., 0]` and their like."""
    found: list[int | None] = []
    left = list(before)
    taken = sum(not is_none(one) and not is_rest(one) for one in index.items)
    for one in index.items:
        number = _int(one)
        if is_none(one):
            found.append(1)
        elif is_rest(one):
            rest = max(len(before) - taken, 0)
            found += left[:rest]
            del left[:rest]
        elif not left:
            return None
        elif number is not None:
            left.pop(0)
        elif isinstance(one, Op) and one.name == "[:]":
            size = left.pop(0)
            found.append(size if is_whole(one) else None)
        else:
            return None
    return (*found, *left)


def _best(op: Op) -> Sizes | None:
    """The values, or the indices, that `max(dim)` gives."""
    before = shape_read(op.inputs[0]) if op.inputs else None
    return _reduced(op, before) if before and op.name in ("max", "min") else None


def _of_sample(made: Sample) -> Sizes | None:
    """The shape of a part of a batch, however many samples there are."""
    shape = shape_read(made.of)
    if shape is None or not made.is_stacked:
        return shape
    return (None, *(shape[1:] if made.is_all else shape))


def _together(first: Sizes | None, second: Sizes | None) -> Sizes | None:
    """What two tensors are broadcast to, where that is certain."""
    if first is None or second is None:
        return None
    length = max(len(first), len(second))
    left, right = ((1,) * (length - len(one)) + one for one in (first, second))
    pairs = list(zip(left, right, strict=True))
    if any(None not in pair and 1 not in pair and pair[0] != pair[1] for pair in pairs):
        return None
    return tuple(
        one if other == 1 or one == other else other if one == 1 else one or other for one, other in pairs
    )


def _with_axis(before: Sizes, axis: int, size: int | None = 1) -> Sizes | None:
    place = axis if axis >= 0 else len(before) + 1 + axis
    return (*before[:place], size, *before[place:]) if 0 <= place <= len(before) else None


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
    given = op.option(1, "dim") or op.options.get("axis")
    if given is None:
        return () if "keepdims" not in op.options else None
    axis = _int(given)
    kept = op.options.get("keepdim") if op.name in _SPREADS else op.option(2, "keepdim")
    kept = kept or op.options.get("keepdims")
    keeps = constant(kept) if kept is not None else False
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
