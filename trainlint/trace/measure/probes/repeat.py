"""Is the same step, from the same seed, the same step again?"""

from __future__ import annotations

from trainlint.facts.seen.tried import Tried
from trainlint.trace.measure.copies import Copy, culprit, whole
from trainlint.trace.measure.probes.step import Step
from trainlint.trace.measure.probes.taken import SAME, far, stepped
from trainlint.trace.measure.replay import Impossible, Replay

NAME = "repeat"


def repeat(step: Step) -> Tried:
    """Take one step with two copies, from the same seed of torch, numpy and `random`."""
    first, second = (Replay(step.taped, step.optimizer) for _ in range(2))
    started = [one.detach().clone() for one in first.parameters]
    losses = stepped(first), stepped(second)
    moved = max(far(first.parameters, started), 1e-12)
    change = far(first.parameters, second.parameters)
    numbers = {
        "loss": losses[0],
        "loss again": losses[1],
        "difference of the weights": change,
        "largest move of a weight": moved,
    }
    said = (
        f"taken twice, weights differ by up to {change:.3g}, where the step moves them by up to {moved:.3g}"
    )
    if change <= SAME * moved:
        return Tried(NAME, "passed", said, step.at, numbers)
    if any(one.device.type != "cpu" for one in first.parameters):
        raise Impossible(f"{said}; on this device sums may be taken in another order each time")
    return Tried(NAME, "failed", said + _why(step), step.at, numbers)


def _why(step: Step) -> str:
    """The module that gives something else, if it can be told."""
    model, args, kwargs = Replay(step.taped, None).arguments_of(step.model)
    runs = [Copy(model, keeps_mode=True).run(args, kwargs, whole) for _ in range(2)]
    found = culprit(*runs)
    return f": `{found}` gives something else for the same input" if found else ""
