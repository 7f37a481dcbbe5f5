"""How many axes a tensor has, and whether its first one is the batch, as far as the operations that made it tell."""

from __future__ import annotations

import re

from trainlint.facts.ask.asking import question
from trainlint.facts.ask.shapes import shape_read
from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.values import Items, Op, Value, constant

_KEEP = frozenset(
    "output linear dropout relu leaky_relu tanh sigmoid gelu elu silu softmax log_softmax layer_norm batch_norm float double "
    "half to cuda cpu contiguous clamp alias detach clone identity".split()
)
_SCALED = frozenset("*/")
"""What has as many axes as the larger of two: `2 * x`, `x / temperature`."""
_LAYERS_KEEP = re.compile(
    r"torch\.nn\.(\w*ReLU\d?|Tanh|Sigmoid|GELU|ELU|SiLU|SELU|Dropout|AlphaDropout|LayerNorm|BatchNorm1d|Identity|Linear)$"
)
_IMAGES = re.compile(r"torch\.nn\.(\w*Conv\w*|\w*Pool|BatchNorm|Upsample\w*)([23])d$")
_OF_SAMPLES = "torch.nn.BatchNorm1d"
"""Takes nothing without samples, and has them first."""
_JOIN = frozenset(("cat", "concat", "concatenate"))


@question(start=None, unknown=None)
def axes(value: Value) -> int | None:
    """How many axes a tensor certainly has."""
    shape = shape_read(value)
    if shape is not None:
        return len(shape)
    if not isinstance(value, Op) or not value.inputs:
        return None
    before, name = value.inputs[0], plain(value)
    image = _IMAGES.match(value.owner.type) if value.owner is not None else None
    if image is not None:
        return 2 + int(image[2])
    if name in _SCALED:
        return _of_both(value)
    if _keeps(value):
        return axes(before)
    match name:
        case "view" | "reshape" | "permute" | "repeat":
            return len(_given(value)) or None
        case "flatten":
            return 2 if _is_flattened(value) else None
        case "bmm":
            return 3
        case name if name in _JOIN:
            parts = before.items if isinstance(before, Items) else []
            return next((found for one in parts if (found := axes(one)) is not None), None)
    return None


def _of_both(op: Op) -> int | None:
    """Of a product, the axes of the larger part, as a number has none; a second part that is not known is no larger."""
    first, second = axes(op.inputs[0]), axes(op.inputs[1]) if len(op.inputs) > 1 else None
    return None if first is None else max(first, second or 0) or None


@question(start=False, unknown=False)
def begins_with_batch(value: Value) -> bool:
    """Whether the first axis is that of the samples: layers for images have it there, and what keeps it as it flattens the
    rest."""
    if not isinstance(value, Op) or not value.inputs:
        return False
    before, name = value.inputs[0], plain(value)
    if value.owner is not None and (_IMAGES.match(value.owner.type) or value.owner.type == _OF_SAMPLES):
        return True
    if _keeps(value):
        return begins_with_batch(before)
    if name in _SCALED:
        return any(begins_with_batch(one) and axes(one) == axes(value) for one in value.inputs)
    if name in ("view", "reshape"):
        given = _given(value)
        return len(given) > 1 and (number_of(given[0]) == -1 or _is_first_size(given[0]))
    return name == "flatten" and _is_flattened(value)


def _keeps(op: Op) -> bool:
    """Whether an operation, or a layer, leaves all axes where they are."""
    if op.owner is not None and op.owner.definition is None and op.name not in ("output", "linear"):
        return _LAYERS_KEEP.match(op.owner.type) is not None
    return plain(op) in _KEEP


def _given(op: Op) -> list[Value]:
    """The sizes, or axes, that are written, of `view(n, -1)` and of `view((n, -1))`; none where more may be meant."""
    given = op.inputs[1].items if len(op.inputs) == 2 and isinstance(op.inputs[1], Items) else op.inputs[1:]
    several = len(given) > 1 or (len(given) == 1 and number_of(given[0]) is not None)
    return list(given) if several and not any(isinstance(one, Items) for one in given) else []


def _is_first_size(value: Value) -> bool:
    """`x.size(0)`, `x.shape[0]`."""
    if not isinstance(value, Op):
        return False
    of_shape = (
        value.name == "getitem"
        and isinstance(value.inputs[0], Op)
        and value.inputs[0].name in ("shape", "size")
    )
    place = (
        value.options.get("index") if of_shape else value.option(1, "dim") if value.name == "size" else None
    )
    return number_of(place) == 0


def _is_flattened(op: Op) -> bool:
    """Whether all axes but the first become one."""
    start, end = op.option(1, "start_dim"), op.option(2, "end_dim")
    return constant(start) == 1 and (end is None or constant(end) == -1)
