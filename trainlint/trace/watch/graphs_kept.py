"""Losses that a list still holds when the next step begins, with all that they were computed from."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.values import Op
from trainlint.facts.seen.kept import GraphKept
from trainlint.trace.watch.held_values import held_values

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def graphs_kept(recorder: Recorder, frame: FrameType | None, last: int) -> Iterator[GraphKept]:
    """Lists that hold a loss of an earlier step for each step that was taken.

    Args:
        last: the number of the last value before the last step was over.
    """
    steps = recorder.steps.done
    for text, value in held_values(frame, recorder.own):
        if type(value) is not list and not (type(value) is deque and value.maxlen is None):
            continue
        numbers = [_loss(recorder, one) for one in value]
        found = [one for one in numbers if one is not None and one.uid < last]
        at = next((one.at for one in found if one.at is not None), None)
        if at is not None and len(found) >= steps:
            yield GraphKept(at, text, len(found), steps)


def _loss(recorder: Recorder, one: Any) -> Op | None:
    """What a tensor is, if it is one number with a graph."""
    if not issubclass(type(one), torch.Tensor) or one.grad_fn is None or one.numel() != 1:
        return None
    known = recorder.graph.known(one)
    return known if isinstance(known, Op) else None
