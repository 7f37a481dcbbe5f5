"""Operations that raise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trainlint.facts.api.losses import LOSS_FUNCTIONS
from trainlint.facts.model.values import Op
from trainlint.facts.seen.raised import Failure
from trainlint.trace.measure import numbers
from trainlint.trace.watch.graph import seen, tensors

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


_SHAPE_TOLD = re.compile(r"\[torch\.[\w.]+ \[([\d, ]*)\]\]")
"""How torch names the shape of a tensor that was changed too early."""


def note_failed(
    recorder: Recorder, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception
) -> None:
    """Write down what an operation was given that it could not take."""
    frame = recorder.frame()
    place = recorder.at(frame)
    if place is None:
        return
    if name in LOSS_FUNCTIONS:
        recorder.losses.raised(name, args, kwargs, frame)
    with recorder.aside():
        recorder.masks.failed(name, args, kwargs, place)
    given = tensors([*args, *kwargs.values()])
    whole = next((one for one in given if not one.is_floating_point() and one.numel()), None)
    with recorder.aside():
        found = numbers.spread(whole) if whole is not None and not whole.is_complex() else None
    culprit = _culprit(recorder, str(error)) if name == "backward" else None
    recorder.fact(
        Failure(
            place,
            name,
            name,
            type(error).__name__,
            str(error),
            tuple((look.shape, look.dtype, look.device) for look in map(seen, given)),
            found.smallest if found else None,
            found.largest if found else None,
            culprit.at if culprit is not None else None,
            culprit.name if culprit is not None else "",
        ),
        place,
    )


def _culprit(recorder: Recorder, message: str) -> Op | None:
    """The latest in-place operation on a value that backward needed: of the sizes that torch complains of.

    Their order tells nothing: a layer may have saved its weight transposed.
    """
    told = _SHAPE_TOLD.search(message)
    sizes = sorted(map(int, told[1].replace(",", " ").split())) if told else None
    changed = [
        value
        for _, value in list(recorder.graph._values.values())
        if isinstance(value, Op)
        and value.in_place
        and value.attached
        and (sizes is None or (value.seen is not None and sorted(value.seen.shape) == sizes))
    ]
    return max(changed, key=lambda op: op.uid, default=None)
