"""The probes, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.tried import QUESTIONS, Tried
from trainlint.trace.measure.copies import unnoticed
from trainlint.trace.measure.own_state import unchanged
from trainlint.trace.measure.probes.overfit import overfit
from trainlint.trace.measure.probes.step import Step, step_of
from trainlint.trace.measure.replay import Impossible
from trainlint.trace.watch.recorder import Recorder

_PROBES: dict[str, Callable[[Step], Tried]] = {
    "overfit": overfit,
}


def probes(
    recorder: Recorder,
    names: Sequence[str],
    seconds: float,
    recorded: Recorded,
    waiting: Callable[[str], None],
) -> Iterator[Tried]:
    """What each probe of these names has shown, in the order of `QUESTIONS`. Everything is afterwards as it was.

    Args:
        seconds: how long each may take.
        recorded: what is known of the step, with the experiments that are always made.
    """
    step = step_of(recorder, seconds, recorded)
    for name in QUESTIONS:
        if name not in names:
            continue
        waiting(f"the probe {name}")
        yield _tried(name, step)


def _tried(name: str, step: Step) -> Tried:
    with unchanged(step.recorder), unnoticed(), torch.enable_grad():
        torch.manual_seed(0)
        try:
            return _PROBES[name](step)
        except Impossible as error:
            said = str(error)
        except (Exception, SystemExit) as error:  # the program's own code, called as it may not expect
            said = f"{type(error).__name__}: {error}".splitlines()[0]
    return Tried(name, "not possible", said, step.at)
