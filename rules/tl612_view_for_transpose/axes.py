"""Which axis of a tensor is which: sizes that are asked of a tensor, and where a view puts them."""

from __future__ import annotations

from typing import TypeGuard

from trainlint.facts.api.operations import CREATES
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Constant, Items, Op, Value

Axis = tuple[int, int] | None
"""An axis of a tensor by the tensor's number and its position; None where that is not known."""

_KEEPS_AXES = frozenset(
    "output contiguous to type type_as float double half bfloat16 cuda cpu clone detach dropout relu gelu silu tanh "
    "sigmoid layer_norm linear alias identity torch.nn.LayerNorm torch.nn.ReLU torch.nn.GELU torch.nn.SiLU "
    "torch.nn.Tanh torch.nn.RMSNorm".split()
)
"""Operations that leave all axes but the last where they are, and as long as they are."""

_LEADING = 3
"""How many axes from the front are followed."""


@question(start=(), unknown=())
def leading(value: Value) -> tuple[Axis, ...]:
    """The first axes of a tensor."""
    if isinstance(value, Op) and value.inputs:
        if value.name in _KEEPS_AXES:
            return leading(value.inputs[0])
        if value.name in ("view", "reshape"):
            return tuple(map(axis_of, sizes(value)[:_LEADING]))
        if value.name == "transpose":
            return _swapped(leading(value.inputs[0]), value.inputs[1:])
        if value.name == "permute":
            return _permuted(leading(value.inputs[0]), value.inputs[1:])
        if value.name == "getitem" and _is_cut_behind(value.inputs[0]):
            return (*leading(value.inputs[0].inputs[0])[:2], (value.uid, 2))
    return tuple((value.uid, position) for position in range(_LEADING))


def _is_cut_behind(value: Value) -> TypeGuard[Op]:
    """Whether a tensor is cut in parts, and not along its first two axes."""
    if not isinstance(value, Op) or value.name not in ("split", "chunk") or not value.inputs:
        return False
    axis = number_of(value.option(2, "dim"))
    return axis in (2, 3, -1)


def sizes(op: Op) -> list[Value]:
    """The sizes that a view is given."""
    given = list(op.inputs[1:])
    if len(given) == 1 and isinstance(given[0], Items):
        return list(given[0].items) if given[0].exact else []
    return given


@question(start=None, unknown=None)
def axis_of(size: Value) -> Axis:
    """The axis whose length a number is."""
    if not isinstance(size, Op) or not size.inputs:
        return None
    if size.name == "size" and len(size.inputs) == 2:
        return _asked(size.inputs[0], number_of(size.inputs[1]))
    if size.name != "getitem":
        return None
    whole, position = size.inputs[0], number_of(size.options.get("index"))
    if isinstance(whole, Op) and whole.name == "getitem" and _is_from_the_front(whole.options.get("index")):
        whole = whole.inputs[0]
    if isinstance(whole, Op) and whole.name in ("shape", "size") and len(whole.inputs) == 1:
        return _asked(whole.inputs[0], position)
    return None


def _asked(tensor: Value, position: object) -> Axis:
    if not isinstance(position, int) or isinstance(position, bool) or position < 0:
        return None
    axes = leading(tensor)
    return axes[position] if position < len(axes) else None


def _is_from_the_front(index: Value | None) -> bool:
    start = index.inputs[0] if isinstance(index, Op) and index.name == "[:]" else None
    return isinstance(start, Constant) and start.value in (None, 0)


def _swapped(axes: tuple[Axis, ...], pair: tuple[Value, ...]) -> tuple[Axis, ...]:
    numbers = [number_of(one) for one in pair]
    if len(numbers) != 2 or not all(isinstance(one, int) and 0 <= one < len(axes) for one in numbers):
        return ()
    first, second = (int(one) for one in numbers if one is not None)
    order = {first: second, second: first}
    return tuple(axes[order.get(position, position)] for position in range(len(axes)))


def _permuted(axes: tuple[Axis, ...], order: tuple[Value, ...]) -> tuple[Axis, ...]:
    given = order[0].items if len(order) == 1 and isinstance(order[0], Items) else order
    numbers = [number_of(one) for one in given]
    if not all(isinstance(one, int) and 0 <= one < 8 for one in numbers):
        return ()
    return tuple(axes[int(one)] if one is not None and one < len(axes) else None for one in numbers)


def _goes_into(axis: Axis, size: Value) -> bool:
    """Whether a size is the length of an axis, or a product with it."""
    return axis is not None and any(axis_of(one) == axis for one in factors(size))


def factors(size: Value) -> list[Value]:
    """What a size is the product of: itself, where it is none."""
    found = reached([size], lambda one: one.inputs if _is_product(one) else ())
    return [one for one in found if not _is_product(one)]


def _is_product(size: Value) -> TypeGuard[Op]:
    return isinstance(size, Op) and size.name == "*"


def moved(view: Op) -> int | None:
    """The position to which a view takes the second axis of a tensor away from behind the first; None if to none.

    Numbers stay in their order in a view: the second axis is still an axis only if what stands before it is as
    long as the first axis.
    """
    if view.seen is not None:
        return _moved_in_run(view)
    if view.name not in ("view", "reshape") or not view.inputs:
        return None
    before, after = leading(view.inputs[0])[:_LEADING], sizes(view)
    if len(before) < 2 or len(after) < 3 or before[0] is None or before[1] is None:
        return None
    axes = [axis_of(one) for one in after]
    if axes.count(before[0]) != 1 or axes.count(before[1]) != 1:
        return None
    if _may_only_move_channels(before, axes) or (_is_swapped(before, axes) and not has_known_sizes(view)):
        return None
    first, second = axes.index(before[0]), axes.index(before[1])
    between = after[first + 1 : second] if second > first else [after[second]]
    is_whole = len(before) > 2 and any(_goes_into(before[2], one) for one in after)
    if first != 0 or second == 1:
        return second if second < first and is_whole else None
    if any(number_of(one) in (1, -1) for one in between) or (len(after) == 3 and not is_whole):
        return None
    return second


def _may_only_move_channels(before: tuple[Axis, ...], axes: list[Axis]) -> bool:
    """Whether an image's channels go behind its rows and columns, or back: a single one mixes nothing."""
    if len(before) < 3:
        return False
    first, second, third = before
    return axes in (
        [second, third, first],
        [third, first, second],
        [first, third, None, second],
        [first, None, second, third],
    )


def _is_swapped(before: tuple[Axis, ...], axes: list[Axis]) -> bool:
    """Whether the last two of three axes change places: of data, either may have the length 1."""
    return len(before) > 2 and axes == [before[0], before[2], before[1]]


def has_known_sizes(view: Op) -> bool:
    """Whether a layer has made the tensor, or numbers say how large it is, and no axis has the length 1."""
    walk = reached(view.inputs[:1], lambda one: one.inputs[:1] if isinstance(one, Op) else one.parts())
    made_of = [one for one in walk if isinstance(one, Op)]
    widths = [one for one in made_of if one.owner is not None and one.name not in _KEEPS_AXES - {"linear"}]
    if widths and _makes_one_feature(widths[0]):
        return False
    return any(one.owner is not None or _is_sized(one) for one in made_of)


def _makes_one_feature(made: Op) -> bool:
    """Whether a layer projects to a single number."""
    layer = made.owner
    return made.name == "linear" and layer is not None and number_of(layer.argument(1, "out_features")) == 1


def _is_sized(made: Op) -> bool:
    sizes_given = [number_of(one) for one in made.inputs]
    return made.name in CREATES and len(sizes_given) > 2 and not {None, 1}.intersection(sizes_given)


def _moved_in_run(view: Op) -> int | None:
    """The same from sizes alone, which tell only where all of them differ."""
    given = view.inputs[0] if view.inputs else None
    before = given.seen.shape if isinstance(given, Op) and given.seen is not None else ()
    after = view.seen.shape if view.seen is not None else ()
    if _is_merged(before, after):
        return 1
    if len(before) < 3 or len(set(before)) < len(before) or 1 in before or before[1] not in after:
        return None
    is_turned = sorted(before) == sorted(after) and before != after
    is_split = (
        len(before) == 3
        and len(after) == 4
        and len(set(after)) == len(after)
        and (after[0], after[2]) == before[:2]
        and after[1] > 1
        and after[1] * after[3] == before[2]
    )
    return after.index(before[1]) if is_turned or is_split else None


def _is_merged(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether heads were merged where they stood, before the length: `[batch, heads, length, size]` as
    `[batch, length, heads * size]`."""
    if len(before) != 4 or len(after) != 3 or 1 in before[1:]:
        return False
    batch, heads, length, size = before
    return heads != length and after == (batch, length, heads * size)
