"""The axis of attention's scores that a softmax normalises, and the one over which its weights are summed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainlint.facts.api.attention import MIXES
from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.ask.attention import mixed_heads
from trainlint.facts.ask.shapes import shape_read
from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.events.operations import Attended
from trainlint.facts.model.values import (
    Carried,
    Constant,
    Items,
    Op,
    Value,
    alternatives,
    constant,
)

_KEEP_AXES = frozenset(
    "dropout to type type_as float double half bfloat16 contiguous alias clone identity output masked_fill * cuda".split()
)
_TURNED = frozenset(("transpose", "swapaxes", "swapdims"))
_FLIPPED = frozenset(("mT", "t", "T"))
_KEEPS_COUNT = (_KEEP_AXES | _TURNED | _FLIPPED | {"linear"}) - {"*"}
_PRODUCTS = frozenset(("matmul", "@"))
_POOLS = frozenset(("mean", "sum"))
_MOST = 24


def crossed(attended: Attended, taken: Mapping[int, int]) -> Iterator[tuple[Op, int, int]]:
    """Each softmax of attention's weights, the axis that it normalises, and the one that the product sums over,
    counted from the end, where these are not the same.

    Args:
        taken: how many axes tensors have whose shape is taken apart, by their numbers.
    """
    axis = summed(attended.output, attended.weights)
    if any(_are_weights(one) for one in operands_of(attended.output) if one is not attended.weights):
        return
    for softmax, over in _softmaxes(attended.weights, axis) if axis is not None else ():
        dim = number_of(softmax.option(1, "dim") or _of_layer(softmax))
        scores = _scores(softmax.inputs[0]) if softmax.inputs else []
        if not isinstance(dim, int) or not scores or not all(map(_is_of_queries_and_keys, scores)):
            continue
        ranks = {_rank(one) or _rank_taken(one, taken) for one in scores}
        rank = ranks.pop() if len(ranks) == 1 else None
        if dim == 0 and over == -1:  # of scores, which have two axes at least
            yield softmax, dim, over
            continue
        if dim >= 0 and rank is None:
            continue
        dim = dim - rank if dim >= 0 and rank is not None else dim
        if dim != over and dim < 0:
            yield softmax, dim, over


def summed(product: Op, weights: Value) -> int | None:
    """The axis of the weights over which a product sums, counted from the end."""
    name = plain(product)
    if name == "einsum":
        return _summed_in_einsum(product, weights)
    if name not in MIXES or len(product.inputs) != 2:
        return None
    return -1 if product.inputs[0] is weights else -2


def _summed_in_einsum(product: Op, weights: Value) -> int | None:
    letters = letters_of(product)
    operands = operands_of(product)
    if letters is None or len(operands) != 2 or len(letters[0]) != 2:
        return None
    mine = 0 if operands[0] is weights else 1
    if mixed_heads(product) is weights:
        return None  # it mixes the heads, and the weights are applied later
    given, other = letters[0][mine], letters[0][1 - mine]
    gone = [one for one in given if one not in letters[1] and one in other]
    return given.index(gone[0]) - len(given) if len(gone) == 1 else None


def letters_of(product: Op) -> tuple[list[str], str] | None:
    """The axes of each operand of an `einsum`, and of its result."""
    text = constant(product.inputs[0]) if product.inputs else None
    if not isinstance(text, str) or "->" not in text or "." in text:
        return None
    given, _, result = text.replace(" ", "").partition("->")
    return given.split(","), result


def _are_weights(values: Value) -> bool:
    """Whether what gets weights are weights too, as in attention over attention: of the other axis, over which they sum to
    1."""
    for _ in range(_MOST):
        if not isinstance(values, Op) or not values.inputs:
            return False
        if values.name == "softmax":
            return True
        if plain(values) not in (
            *_KEEP_AXES,
            *_TURNED,
            *_FLIPPED,
            *_POOLS,
            "permute",
            "unsqueeze",
            "squeeze",
        ):
            return False
        values = values.inputs[0]
    return False


def operands_of(product: Op) -> tuple[Value, ...]:
    if plain(product) != "einsum":
        return product.inputs[:2]
    rest = product.inputs[1:]
    return tuple(rest[0].items) if len(rest) == 1 and isinstance(rest[0], Items) else rest


def _softmaxes(weights: Value, axis: int) -> list[tuple[Op, int]]:
    """Each softmax that may have given weights, and which of its axes one of theirs is; none where that is not known of
    all."""
    found: list[tuple[Op, int]] = []
    pending = [(one, axis) for one in _ways(weights)]
    for _ in range(_MOST):
        if not pending:
            return found
        op, axis = pending.pop()
        if not isinstance(op, Op) or op.written:
            return []
        if op.name == "softmax":
            found.append((op, axis))
            continue
        name = plain(op)
        if name == "einsum":
            mixed = _before_mixing(op, axis)
            if mixed is None:
                return []
            pending += [(one, mixed[1]) for one in _ways(mixed[0])]
            continue
        before = axis if name in _KEEP_AXES else _turned(op, name, axis)
        if before is None or not op.inputs:
            return []
        pending += [(one, before) for one in _ways(op.inputs[0])]
    return []


def _ways(value: Value) -> list[Value | None]:
    """What a value may be on either side of a condition; None for one that a loop carries on."""
    if isinstance(value, Carried):
        return [None]
    return [one for one in alternatives(value) if not isinstance(one, Constant)]


def _before_mixing(op: Op, axis: int) -> tuple[Value, int] | None:
    """What an `einsum` with a table of parameters has mixed the heads of, and which axis of that one of its own is."""
    mixed, letters = mixed_heads(op), letters_of(op)
    if mixed is None or letters is None or len(letters[0]) != 2 or len(letters[1]) < -axis:
        return None
    given = letters[0][0 if operands_of(op)[0] is mixed else 1]
    letter = letters[1][axis]
    return (mixed, given.index(letter) - len(given)) if letter in given else None


def _turned(op: Op, name: str, axis: int) -> int | None:
    """Where an axis was before axes changed places."""
    if name in _FLIPPED and len(op.inputs) == 1:
        return {-1: -2, -2: -1}.get(axis, axis)
    given = op.inputs[1].items if len(op.inputs) == 2 and isinstance(op.inputs[1], Items) else op.inputs[1:]
    numbers = [one for one in map(number_of, given) if isinstance(one, int)]
    if len(numbers) != len(given) or not numbers:
        return None
    if name == "permute":
        return numbers[axis] - len(numbers) if numbers[axis] >= 0 else numbers[axis]
    if name not in _TURNED or len(numbers) != 2:
        return None
    if min(numbers) >= 0 and set(numbers) == {1, 2}:  # of three axes, as for `bmm`
        numbers = [-2, -1] if _rank(op.inputs[0]) == 3 else [0, 0]
    if max(numbers) >= 0:
        return None
    return {numbers[0]: numbers[1], numbers[1]: numbers[0]}.get(axis, axis)


def _scores(value: Value) -> list[Op]:
    """The products that may have given scores, which are scaled and masked since; none where one is not known."""
    found: list[Op] = []
    pending = _ways(value)
    for _ in range(_MOST):
        if not pending:
            return found
        op = pending.pop()
        if not isinstance(op, Op):
            return []
        name = plain(op)
        if name in MIXES:
            found.append(op)
            continue
        if not op.inputs or (name not in _KEEP_AXES and name not in ("/", "+", "-", "where")):
            return []
        pending += _ways(op.inputs[1] if name == "where" and len(op.inputs) == 3 else op.inputs[0])
    return []


def _is_of_queries_and_keys(scores: Op) -> bool:
    """Whether two things that were computed met, and no table of parameters."""
    operands = operands_of(scores)
    return len(operands) == 2 and not any(map(_is_parameter, operands)) and _leaves_two(scores)


def _leaves_two(scores: Op) -> bool:
    """Whether one axis of each is left."""
    if plain(scores) != "einsum":
        keys = scores.inputs[1]
        return isinstance(keys, Op) and plain(keys) in (*_TURNED, *_FLIPPED, "permute")
    letters = letters_of(scores)
    if letters is None or len(letters[0]) != 2:
        return False
    first, second = letters[0]
    return all(
        any(one in result and one not in other for one in mine)
        for mine, other, result in (
            (first, second, letters[1]),
            (second, first, letters[1]),
        )
    )


def _is_parameter(value: Value) -> bool:
    while (
        isinstance(value, Op)
        and plain(value) in (*_TURNED, *_FLIPPED, "permute", "getitem", "unsqueeze")
        and value.inputs
    ):
        value = value.inputs[0]
    return not isinstance(value, Op) or value.name in (PARAMETER, "parameters", "getattr", "weight")


def _rank(value: Value) -> int | None:
    """How many axes a tensor has."""
    while isinstance(value, Op) and value.inputs and plain(value) in (*_KEEP_AXES, "softmax", "/"):
        value = value.inputs[0]
    if isinstance(value, Op) and plain(value) == "einsum":
        letters = letters_of(value)
        return len(letters[1]) if letters is not None else None
    if isinstance(value, Op) and value.name == "bmm":
        return 3
    if isinstance(value, Op) and plain(value) in MIXES and len(value.inputs) == 2:
        return _rank_of_turned(value.inputs[1])
    shape = shape_read(value)
    return len(shape) if shape is not None else None


def _rank_taken(scores: Op, taken: Mapping[int, int]) -> int | None:
    """How many axes scores have, if the program takes apart the shape of what their queries or keys are made of."""
    for value in scores.inputs if plain(scores) in _PRODUCTS and len(scores.inputs) == 2 else ():
        for _ in range(_MOST):
            if value.uid in taken:
                return taken[value.uid]
            if not isinstance(value, Op) or not value.inputs:
                break
            if plain(value) not in _KEEPS_COUNT:
                break
            value = value.inputs[0]
    return None


def _rank_of_turned(keys: Value) -> int | None:
    """How many axes keys have, by which of them change places to meet queries: the last two."""
    if not isinstance(keys, Op) or plain(keys) not in (*_TURNED, "permute"):
        return None
    given = (
        keys.inputs[1].items
        if len(keys.inputs) == 2 and isinstance(keys.inputs[1], Items)
        else keys.inputs[1:]
    )
    numbers = [one for one in map(number_of, given) if isinstance(one, int)]
    if plain(keys) == "permute" and len(numbers) == len(given):
        return len(numbers) or None
    found = {frozenset((1, 2)): 3, frozenset((2, 3)): 4}.get(frozenset(numbers))
    shape = shape_read(keys) if found is None else None
    return len(shape) if shape is not None else found


def _of_layer(softmax: Op) -> Value | None:
    owner = softmax.owner
    return owner.argument(0, "dim") if owner is not None and not owner.is_open else None
