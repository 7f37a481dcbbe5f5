"""Which axis a recurrent layer takes for time, and which one a program does."""

from __future__ import annotations

from trainlint.facts.model.values import Constant, Items, Op


def is_last_of_second_axis(part: Op) -> bool:
    """Whether a part is `x[:, -1]`, of all that the first axis holds."""
    index = part.options.get("index")
    if not isinstance(index, Items) or len(index.items) < 2:
        return False
    first, second = index.items[:2]
    return (
        isinstance(first, Op)
        and first.name == "[:]"
        and all(isinstance(one, Constant) and one.value is None for one in first.inputs)
        and isinstance(second, Constant)
        and second.value == -1
    )


def is_time_first(call: Op) -> bool:
    """Whether a recurrent layer certainly takes its input as `[time, batch, features]`."""
    layer = call.owner
    if layer is None or layer.is_open:
        return False
    batch_first = layer.argument(4, "batch_first")
    return batch_first is None or (
        isinstance(batch_first, Constant) and batch_first.value is False and not batch_first.is_default
    )
