"""What a mask was made of: positions alone, or a comparison of tokens or lengths with the padding."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.facts.model.values import Constant, Items, Op, Value

_COMPARES = frozenset(("==", "!=", "<", ">", "<=", ">="))
_BY_POSITION = frozenset(
    "tril triu arange ones zeros full eye ones_like zeros_like full_like tril_indices triu_indices".split()
)
_SLICE = "[:]"
_MOST = 64


class Made(NamedTuple):
    """How a mask was made.

    Args:
        is_padding: from one comparison of a batch's whole numbers with a constant or with positions.
        by_position: from nothing but positions.
    """

    is_padding: bool = False
    by_position: bool = False


def of(mask: Value | None) -> Made:
    """How a mask was made."""
    if not isinstance(mask, Op):
        return Made()
    is_padding = False
    pending, seen = [mask], {mask.uid}
    while pending:
        op = pending.pop()
        if op.name in ("tril", "triu"):
            return Made(False, _is_by_position(mask))
        if op.name in _COMPARES and _is_of_tokens(op):
            is_padding = True
            continue
        for one in direct(op):
            if one.uid not in seen and len(seen) < _MOST and not one.attached:
                seen.add(one.uid)
                pending.append(one)
    return Made(is_padding, not is_padding and _is_by_position(mask))


def direct(op: Op) -> list[Op]:
    """The operations whose results an operation was given."""
    found: list[Op] = []
    for value in (*op.inputs, *op.options.values()):
        items = value.items if isinstance(value, Items) else [value]
        found.extend(one for one in items if isinstance(one, Op) and one.name != _SLICE)
    return found


def _is_of_tokens(compare: Op) -> bool:
    """Whether just one side is a batch of whole numbers, such as tokens or lengths, and the other is none."""
    sides = [one for one in compare.inputs if not isinstance(one, Constant)]
    data = [one for one in sides if not (isinstance(one, Op) and (_is_by_position(one) or _is_one(one)))]
    only = data[0] if len(data) == 1 else None
    if not isinstance(only, Op) or only.seen is None or compare.seen is None:
        return False
    wide = [size for size in compare.seen.shape if size > 1]
    batch = (*only.seen.shape, 0)[0]
    return (
        only.seen.dtype.startswith(("int", "uint"))
        and len(only.seen.shape) >= 2
        and len(wide) <= 2
        and batch == compare.seen.shape[0]
    )


def _is_one(op: Op) -> bool:
    return op.seen is not None and not op.seen.shape


def _is_by_position(value: Op) -> bool:
    """Whether a value was made of positions and constants alone."""
    pending, seen = [value], {value.uid}
    while pending:
        op = pending.pop()
        given = direct(op)
        if op.name == "setitem" or (not given and op.name not in _BY_POSITION):
            return False
        if op.name in ("ones_like", "zeros_like", "full_like"):
            continue
        for one in given:
            if one.uid not in seen:
                seen.add(one.uid)
                pending.append(one)
        if len(seen) > _MOST:
            return False
    return True
