"""Do outputs depend on later inputs?"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from trainlint.facts.seen.probes import Probe
from trainlint.trace.measure.again import arguments, changed
from trainlint.trace.measure.copies import Copy, culprit
from trainlint.trace.measure.experiments.compared import compared
from trainlint.trace.measure.experiments.given import Given
from trainlint.trace.measure.experiments.probes import probe
from trainlint.trace.measure.experiments.tokens import (
    as_called,
    other_values,
    positions,
    replaced,
    without_targets,
)
from trainlint.trace.watch.recorder import Recorder
from trainlint.trace.watch.shifts import Shift

_MOST_SAMPLES = 4


def causal(recorder: Recorder, given: Given, shift: Shift) -> Probe | None:
    tokens = dict(arguments(given.args, given.kwargs))[shift.name]
    others = 1 if shift.axis == 0 else 0
    count = tokens.shape[others]
    few = partial(_narrowed, axis=others, count=count, to=_MOST_SAMPLES)
    copy = Copy(given.model)
    for smaller in (few, None) if count > _MOST_SAMPLES else (None,):
        args, kwargs = (
            (given.args, given.kwargs) if smaller is None else (smaller(given.args), smaller(given.kwargs))
        )
        for call in (as_called, without_targets):
            try:
                found = _look_ahead(recorder, given, copy, shift, *call(args, kwargs, shift.name))
            except (Exception, SystemExit):
                continue
            if found is not None:
                return found
    return None


def _look_ahead(
    recorder: Recorder, given: Given, copy: Copy, shift: Shift, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Probe | None:
    """Change what comes after a position, and see whether what comes before it stays the same."""
    tokens = dict(arguments(args, kwargs))[shift.name]
    length, axis = tokens.shape[shift.axis], shift.axis
    worst: Probe | None = None
    for last in sorted({(shift.first + length) // 2 - 1, length - 2}):
        if last < shift.first:
            continue
        shape = (tokens.shape[0], tokens.shape[max(axis, 1)])
        keep = positions(shape, min(axis, 1), slice(shift.first, last + 1))
        may_change = positions(shape, min(axis, 1), slice(last + 1, length))
        later = other_values(tokens, axis, last + 1)
        if later is None:
            continue
        first, again = copy.run(args, kwargs, keep), copy.run(args, kwargs)
        other = copy.run(*replaced(args, kwargs, shift.name, later), keep)
        found = compared(first, again, other, keep, may_change)
        if found is None:
            return None
        shown = probe(recorder, "causal", given, found, culprit(first, other), shifted=True)
        if worst is None or (found.leaked and not worst.leaked):
            worst = shown
    return worst


def _narrowed(value: Any, axis: int, count: int, to: int) -> Any:
    """A structure whose tensors hold fewer samples."""
    if isinstance(value, torch.Tensor):
        is_batch = value.dim() > axis and value.shape[axis] == count
        return value.narrow(axis, 0, to) if is_batch else value
    return changed(value, partial(_narrowed, axis=axis, count=count, to=to))
