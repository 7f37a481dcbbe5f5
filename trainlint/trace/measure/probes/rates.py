"""At which learning rates does the loss fall, and where does it explode?"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator

import torch

from trainlint.facts.model.events.steps import Clip
from trainlint.facts.seen.tried import Tried
from trainlint.trace.measure.probes.step import Step
from trainlint.trace.measure.replay import Impossible, Replay
from trainlint.trace.watch.optimizers import number

NAME = "learning-rate"
_LOWEST, _HIGHEST = 1e-7, 10.0
_RATES = 60
_EXPLODED = 3.0
"""Times the first loss beyond which a loss has exploded."""
_FEWEST = 30
_OWN_STEPS = 10


def learning_rate(step: Step) -> Tried:
    """Take a step at each of many rates, each larger than the one before, on the recorded batch."""
    copy = Replay(step.taped, step.optimizer)
    copy.without_dropout()
    optimizer = copy.optimizer
    assert optimizer is not None
    own = [number(group.get("lr")) for group in optimizer.param_groups]
    highest = max(own, default=0.0)
    if not highest > 0:
        raise Impossible("the learning rate is 0 at this step")
    curve = _swept(copy, optimizer, own, step.until())
    first = curve[0][1]
    if len(curve) < _FEWEST and not _has_exploded(curve[-1][1], first):
        raise Impossible("there was no time for enough steps")
    if not math.isfinite(first) or first <= 0:
        raise Impossible(f"the loss begins at {first:.3g}")
    steepest = max(_falls(curve), default=(0.0, 0.0))
    bursts = next((rate for rate, value in curve if _has_exploded(value, first)), None)
    numbers = {"learning rate": highest, "loss falls fastest at": steepest[1]}
    if bursts is not None:
        numbers["loss explodes at"] = bursts
    fast = f"falls fastest at {steepest[1]:.2g}" if steepest[0] > 0 else "never falls"
    burst = f" and explodes at {bursts:.2g}" if bursts is not None else ""
    said = f"in one sweep, the loss {fast}{burst}; the program has {highest:.2g}"
    kept = tuple((rate, value) for rate, value in curve if math.isfinite(value) and value < 10 * first)
    is_too_high = bursts is not None and highest >= bursts and _explodes_at_its_own(step)
    if is_too_high and any(isinstance(one, Clip) for one in step.recorder.events):
        raise Impossible(f"the program clips gradients, which this does not: {said}")
    return Tried(NAME, "failed" if is_too_high else "passed", said, step.at, numbers, kept)


def _swept(
    copy: Replay, optimizer: torch.optim.Optimizer, own: list[float], until: float
) -> list[tuple[float, float]]:
    """Each rate of the group with the largest, and the loss after the step at it."""
    highest = max(own)
    curve: list[tuple[float, float]] = []
    factor = (max(_HIGHEST, 10 * highest) / _LOWEST) ** (1 / _RATES)
    for turn in range(_RATES + 1):
        rate = _LOWEST * factor**turn
        for group, one in zip(optimizer.param_groups, own, strict=True):
            group["lr"] = rate * one / highest
        copy.step(optimizer)
        with torch.no_grad():
            value = copy.value()
        curve.append((rate, value))
        if _has_exploded(value, curve[0][1]) or time.monotonic() > until:
            break
    return curve


def _has_exploded(value: float, first: float) -> bool:
    return not math.isfinite(value) or value > _EXPLODED * max(first, 1e-8)


def _explodes_at_its_own(step: Step) -> bool:
    """Whether a few steps as the program takes them make the loss explode too."""
    copy = Replay(step.taped, step.optimizer)
    copy.without_dropout()
    assert copy.optimizer is not None
    losses = [copy.step(copy.optimizer) for _ in range(_OWN_STEPS)]
    return _has_exploded(losses[-1], losses[0])


def _falls(curve: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """How far each step lets the loss fall, and the rate of that step."""
    for (_, before), (rate, after) in itertools.pairwise(curve):
        if math.isfinite(before) and math.isfinite(after) and before > 0 and after > 0:
            yield math.log(before / after), rate
