"""Windows of a series, which a loop has put into a list."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.model.values import Constant, Items, Op, Value, alternatives

from .alike import last

_STACKS = frozenset("array asarray stack vstack concatenate tensor".split())
_AS_THEY_ARE = frozenset("array asarray tensor from_numpy float to copy flatten reshape".split())
_DEEPEST = 20


def windows_of(op: Op) -> Iterator[Value]:
    """The series of which an array holds windows, `np.array([series[i : i + 10] for i in range(n)])`: scaled as they are. One
    of many recordings, each of which a loop scales by itself, is none: its statistics are its own."""
    rows = op.inputs[0] if last(op) in _STACKS and op.inputs else None
    for one in alternatives(rows):
        row = _row_of_list(one)
        if row is not None:
            yield from (
                each for each in alternatives(row) if set(getattr(each, "loops", ())) <= set(op.loops)
            )


def _row_of_list(value: Value) -> Value | None:
    """What the items of a list are slices of, where the index changes with each iteration of a loop."""
    is_window = False
    for _ in range(_DEEPEST):
        match value:
            case Items(exact=False, items=[item]):
                value = item
            case Op(name="getitem", inputs=(of, *_)) if _is_position(value):
                value, is_window = of, True
            case Op(inputs=(of, *_)) if not is_window and last(value) in _AS_THEY_ARE:
                value = of
            case _:
                break
    return value if is_window else None


def _is_position(op: Op) -> bool:
    """Whether an item, or a slice, is taken by a position that is no constant: a column has a name or a number."""
    index = op.option(1, "index")
    if isinstance(index, Items) and index.items:
        index = index.items[0]
    if isinstance(index, Op) and index.name == "[:]":
        index = next((one for one in index.inputs[:2] if not isinstance(one, Constant)), None)
    return index is not None and not isinstance(index, (Constant, Items))
