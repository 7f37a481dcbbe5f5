"""Does the same call give the same?"""

from __future__ import annotations

from trainlint.facts.seen.probes import Probe
from trainlint.trace.measure.copies import Copy, culprit, whole
from trainlint.trace.measure.experiments.compared import Compared, difference
from trainlint.trace.measure.experiments.given import Given
from trainlint.trace.measure.experiments.probes import probe
from trainlint.trace.measure.own_state import unchanged
from trainlint.trace.watch.recorder import Recorder

_RANDOM = 1e-2
"""Change of an output, beside its size, that is no matter of rounding."""


def repeat(recorder: Recorder, given: Given) -> Probe | None:
    """Call fresh copies as the program did, each from one and the same seed."""
    runs = []
    for _ in range(3):
        with unchanged(recorder):
            runs.append(Copy(given.model, keeps_mode=True).run(given.args, given.kwargs, whole))
    first, second, third = runs
    for one, other, last in zip(first.outputs, second.outputs, third.outputs, strict=True):
        if not one.is_floating_point() or not one.shape == other.shape == last.shape or not one.numel():
            continue
        change = max(difference(one, other, whole), difference(one, last, whole))
        scale = float(one.double().abs().max())
        if not (change == change and 0 < scale < float("inf")) or one.is_cuda:
            return None
        found = Compared(change, scale, change > _RANDOM * scale)
        return probe(recorder, "repeat", given, found, culprit(first, second))
    return None
