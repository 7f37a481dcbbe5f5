"""The probes, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.resumes import Reloaded
from trainlint.facts.seen.tried import QUESTIONS, Tried
from trainlint.trace.measure.copies import unnoticed
from trainlint.trace.measure.own_state import unchanged
from trainlint.trace.measure.probes.gradients import gradients
from trainlint.trace.measure.probes.inputs import depends_on_input
from trainlint.trace.measure.probes.modes import modes
from trainlint.trace.measure.probes.overfit import overfit
from trainlint.trace.measure.probes.rates import learning_rate
from trainlint.trace.measure.probes.repeat import repeat
from trainlint.trace.measure.probes.resume import resume
from trainlint.trace.measure.probes.seen import causal, chance, samples_independent
from trainlint.trace.measure.probes.smaller import smaller_batch
from trainlint.trace.measure.probes.step import Step, step_of
from trainlint.trace.measure.replay import Impossible
from trainlint.trace.watch.recorder import Recorder

_PROBES: dict[str, Callable[[Step], Tried]] = {
    "overfit": overfit,
    "depends-on-input": depends_on_input,
    "samples-independent": samples_independent,
    "causal": causal,
    "resume": resume,
    "learning-rate": learning_rate,
    "chance": chance,
    "repeat": repeat,
    "smaller-batch": smaller_batch,
    "modes": modes,
    "gradients": gradients,
}


def probes(
    recorder: Recorder,
    names: Sequence[str],
    seconds: float,
    recorded: Recorded,
    waiting: Callable[[str], None],
) -> Iterator[Tried | Reloaded]:
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
        tried = _tried(name, step)
        yield tried
        if tried.name == "resume" and tried.verdict == "failed":
            yield _reloaded(step, tried)


def _reloaded(step: Step, tried: Tried) -> Reloaded:
    model = step.recorder.objects.of(step.module)
    at = model.at or step.at
    assert at is not None
    numbers = tried.numbers
    return Reloaded(
        at,
        model.type,
        numbers["difference of the weights"],
        numbers["largest move of a weight"],
        (numbers["loss of the run that goes on"], numbers["loss after loading"]),
    )


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
