"""The recorded step, as probes are given it."""

from __future__ import annotations

import time
from typing import NamedTuple

import torch

from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.finding import Place
from trainlint.trace.measure.replay import Impossible
from trainlint.trace.watch.recorder import Recorder
from trainlint.trace.watch.tape import Called, Taped


class Step(NamedTuple):
    """What a probe works with.

    Args:
        seconds: how long it may take.
        at: where gradients are computed.
    """

    recorder: Recorder
    seconds: float
    recorded: Recorded
    at: Place | None

    @property
    def taped(self) -> Taped:
        """The way to the loss. Raises Impossible where there is none."""
        found = self.recorder.tape.latest()
        if found is None:
            why = self.recorder.tape.unusable
            raise Impossible(why or "no `backward()` on the output of a model was recorded")
        return found

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        """The one that steps. Raises Impossible where there is none, or several."""
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            raise Impossible("the step is that of several processes")
        found = self.recorder.tape.optimizers()
        if len(found) != 1:
            raise Impossible("several optimizers step" if found else "no optimizer stepped")
        return found[0]

    @property
    def model(self) -> Called:
        """The first call of a model on the way. Raises Impossible where there is none."""
        found = next((one for _, one in self.taped.calls if isinstance(one.function, torch.nn.Module)), None)
        if found is None:
            raise Impossible("no call of a model leads to the loss")
        return found

    @property
    def module(self) -> torch.nn.Module:
        """The model that is called first on the way. Raises Impossible where there is none."""
        found = self.model.function
        assert isinstance(found, torch.nn.Module)
        return found

    def until(self, share: float = 1.0) -> float:
        return time.monotonic() + self.seconds * share


def step_of(recorder: Recorder, seconds: float, recorded: Recorded) -> Step:
    at = next((one.at for one in reversed(recorder.events) if isinstance(one, Backward)), None)
    return Step(recorder, seconds, recorded, at)
