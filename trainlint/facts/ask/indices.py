"""Ranges of positions, and the axis of a mask that they lie along."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trainlint.facts.ask.asking import question
from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.values import Constant, Items, Op, Value


@dataclass(frozen=True)
class Indices:
    """The numbers 0, 1, 2 and so on, along the queries (`rows`), the keys (`columns`), or one axis alone (empty)."""

    along: str
    size: Value | None
    offset: int = 0


_KEEPS = frozenset("unsqueeze getitem view reshape + - to long int float".split())


@question(start=None, unknown=None)
def indices(value: Value) -> Indices | None:
    """The positions that a tensor holds, where it holds nothing else."""
    if not isinstance(value, Op) or not value.inputs:
        return None
    name = plain(value)
    if name == "arange":
        return Indices("", value.inputs[0]) if len(value.inputs) == 1 else None
    inner = indices(value.inputs[0]) if name in _KEEPS else None
    if inner is None:
        return None
    match name:
        case "unsqueeze" if not inner.along:
            axis = number_of(value.option(1, "dim"))
            return (
                replace(inner, along={0: "columns", 1: "rows", -1: "rows"}.get(int(axis), ""))
                if axis is not None
                else None
            )
        case "getitem":
            return _with_new_axis(value, inner)
        case "view" | "reshape":
            sizes = [number_of(one) for one in value.inputs[1:]]
            if sizes in ([-1, 1], [1, -1]) and not inner.along:
                return replace(inner, along="rows" if sizes[1] == 1 else "columns")
            return None
        case "+" | "-" if len(value.inputs) == 2:
            step = number_of(value.inputs[1])
            if step is None or abs(step) > 1e6:
                return None
            return replace(inner, offset=inner.offset + int(step if name == "+" else -step))
        case "to" | "long" | "int" | "float":
            return inner
    return None


def _with_new_axis(op: Op, inner: Indices) -> Indices | None:
    """`positions[:, None]` and `positions[None, :]`."""
    index = op.options.get("index") or (op.inputs[1] if len(op.inputs) > 1 else None)
    items = index.items if isinstance(index, Items) else [index]
    news = [isinstance(one, Constant) and one.value is None for one in items]
    if (
        inner.along
        or True not in news
        or any(not new and not _is_whole(one) for new, one in zip(news, items, strict=True))
    ):
        return None
    return replace(inner, along="rows" if news[-1] and len(news) > 1 else "columns")


def _is_whole(index: Value | None) -> bool:
    return (
        isinstance(index, Op)
        and index.name == "[:]"
        and all(isinstance(one, Constant) and one.value is None for one in index.inputs)
    )
