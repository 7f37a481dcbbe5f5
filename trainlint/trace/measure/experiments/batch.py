"""Does a sample depend on the others of its batch?"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from trainlint.facts.seen.blind_spots import NotTried
from trainlint.facts.seen.probes import Probe
from trainlint.trace.measure.again import changed, leaves
from trainlint.trace.measure.copies import Copy, culprit
from trainlint.trace.measure.experiments.compared import compared
from trainlint.trace.measure.experiments.given import Given
from trainlint.trace.measure.experiments.probes import probe
from trainlint.trace.watch.recorder import Recorder

_WATCHED = 1
"""The sample that must not change; it has others on both sides, for what passes along the batch in one direction."""


def batch(recorder: Recorder, given: Given, size: int | None) -> Probe | NotTried | None:
    """Put others around one sample of the batch, before and after it, and see whether its output stays the same."""
    inputs = [one for one in leaves([given.args, given.kwargs]) if isinstance(one, torch.Tensor)]
    if not any(one.dim() > 1 for one in inputs) or (size is not None and size < 2):
        return None
    if size is None:
        return NotTried("TL608", "neither a loader nor a loss says how large the batch is")
    if not all(_is_batch(one, size) for one in inputs if one.dim()):
        if not all(one.shape[0] == size for one in inputs if one.dim()):
            return None
        if id(given.model) not in recorder.models.batch_first:
            return NotTried("TL608", f"the batch size {size} is also the size of another axis of an input")
    copy = Copy(given.model)
    for count in (3, 5) if size != 3 else (2, 5):
        found = _look_beside(recorder, given, copy, size, count)
        if found is not None:
            return found
    return None


def _look_beside(recorder: Recorder, given: Given, copy: Copy, size: int, count: int) -> Probe | None:
    """With so many samples, so that a model which is tied to the number of all of them, such as a graph's, fails."""
    beside = [position % size for position in range(count)]
    unused = [position for position in range(size) if position not in beside] or [_WATCHED]
    others = [unused[position % len(unused)] for position in range(count)]
    others[_WATCHED] = _WATCHED

    def is_batch(tensor: torch.Tensor) -> bool:
        """A tensor with as many columns compares the samples with each other, and should."""
        return tensor.dim() > 0 and tensor.shape[0] == count and count not in tensor.shape[1:2]

    def keep(tensor: torch.Tensor) -> torch.Tensor | None:
        return tensor[_WATCHED] if is_batch(tensor) else None

    def may_change(tensor: torch.Tensor) -> torch.Tensor | None:
        return tensor[[one for one in range(count) if one != _WATCHED]] if is_batch(tensor) else None

    now = _picked(given.args, beside), _picked(given.kwargs, beside)
    first, again = copy.run(*now, keep), copy.run(*now)
    other = copy.run(_picked(given.args, others), _picked(given.kwargs, others), keep)
    found = compared(first, again, other, keep, may_change)
    return probe(recorder, "batch", given, found, culprit(first, other)) if found is not None else None


def _is_batch(tensor: torch.Tensor, size: int) -> bool:
    """Whether the first axis of a tensor is certainly that of the batch."""
    if tensor.layout is not torch.strided or tensor.shape[0] != size:
        return False
    return size not in tensor.shape[1:] or tensor.dim() >= 4


def _picked(value: Any, samples: list[int]) -> Any:
    if isinstance(value, torch.Tensor):
        return value[samples] if value.dim() else value
    return changed(value, partial(_picked, samples=samples))
