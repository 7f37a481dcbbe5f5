"""By how many steps are the targets of a loss ahead of the inputs, and what does the model see?"""

from __future__ import annotations

from trainlint.facts.seen.targets import Aligned
from trainlint.trace.measure.again import arguments
from trainlint.trace.measure.copies import Copy
from trainlint.trace.measure.experiments.compared import compared
from trainlint.trace.measure.experiments.given import Given
from trainlint.trace.measure.experiments.tokens import (
    as_called,
    other_values,
    positions,
    replaced,
    without_targets,
)
from trainlint.trace.watch.recorder import Recorder
from trainlint.trace.watch.shifts import Shift


def aligned(recorder: Recorder, given: Given, shift: Shift | None) -> Aligned | None:
    """How the targets of a loss are made of a model's inputs."""
    if shift is None or shift.at is None:
        return None
    is_causal: bool | None = False
    if shift.steps == 0:
        is_causal = _reads_up_to_itself(given, shift.name, shift.axis, shift.first)
        if not is_causal and _reads_up_to_itself(given, shift.name, 1 - shift.axis, 0):
            is_causal = True
    return Aligned(
        shift.at,
        given.at,
        recorder.objects.of(given.model).type,
        shift.steps,
        shift.positions,
        shift.next,
        is_causal,
    )


def _reads_up_to_itself(given: Given, name: str, axis: int, start: int) -> bool | None:
    """Whether an output depends on its own input and on earlier ones along an axis, and on no later one; None where no
    outputs could be compared."""
    copy = Copy(given.model)
    for call in (as_called, without_targets):
        args, kwargs = call(given.args, given.kwargs, name)
        tokens = dict(arguments(args, kwargs))[name]
        shape, length = tuple(tokens.shape[:2]), tokens.shape[axis]
        middle = (start + length) // 2
        if not start < middle < length:
            return None
        later = other_values(tokens, axis, middle)
        earlier = other_values(tokens.flip(axis), axis, length - middle)
        if later is None or earlier is None:
            return None
        try:
            first, again = copy.run(args, kwargs), copy.run(args, kwargs)
            changed_later = copy.run(*replaced(args, kwargs, name, later))
            changed_earlier = copy.run(*replaced(args, kwargs, name, earlier.flip(axis)))
        except (Exception, SystemExit):
            continue
        before = positions(shape, axis, slice(start, middle))
        itself = positions(shape, axis, slice(middle, middle + 1))
        after = positions(shape, axis, slice(middle, length))
        looks_ahead = compared(first, again, changed_later, before, itself)
        looks_back = compared(first, again, changed_earlier, after, after)
        if looks_ahead is not None and looks_back is not None:
            return looks_back.leaked and not looks_ahead.leaked
    return None
