"""Does it learn one batch by heart?"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import torch

from trainlint.facts.api.losses import LOSS_FUNCTIONS
from trainlint.facts.seen.tried import Tried
from trainlint.trace.measure.guessing import best_constant
from trainlint.trace.measure.probes.step import Step
from trainlint.trace.measure.replay import Impossible, Replay
from trainlint.trace.watch.tape import Slot, Taped

NAME = "overfit"
_MOST_STEPS = 400
_FEWEST_STEPS = 100
"""Steps with Adam before anything may be said against a model."""
_LEARNT, _NOT_LEARNT = 0.5, 0.9
"""Of the loss of the best constant: what a loss falls below where the batch is learnt, and stays above where it is not."""
_FALLEN = 0.2
"""The same, of the first loss, where the best constant is not known."""
_RATES = (1e-3, 1e-2)


class Tries(NamedTuple):
    """What training a copy with one optimizer gave."""

    by: str
    losses: list[float]

    @property
    def best(self) -> float:
        return min((one for one in self.losses if math.isfinite(one)), default=math.inf)


class Guess(NamedTuple):
    """The loss of the constant that fits best, and how many targets it is for."""

    loss: float
    targets: int


def overfit(step: Step) -> Tried:
    taped, optimizer = step.taped, step.optimizer
    guess = _guess(taped)
    size = 0
    tries: list[Tries] = []
    for one in _tries(step, taped, optimizer, guess):
        tries.append(one)
    size = sum(one.numel() for one in Replay(taped, None).parameters)
    first, best = tries[0].losses[0], min(tries, key=lambda one: one.best)
    if not math.isfinite(first) or first <= 0:
        raise Impossible(f"the loss begins at {first:.3g}: nothing says how far it can fall")
    numbers = {"first loss": first, "lowest loss": best.best, "steps": float(len(best.losses))}
    if guess is not None:
        numbers["loss of the best constant"] = guess.loss
    fell = f"the loss of one batch falls from {first:.3g} to {best.best:.3g} in {len(best.losses)} steps"
    with_what = f"{fell} with {best.by}"
    curve = tuple((float(number), value) for number, value in enumerate(best.losses))
    if best.best <= _goal(first, guess):
        return Tried(NAME, "passed", with_what, step.at, numbers, curve)
    why = _undecided(tries, best.best, guess, size)
    if why:
        return Tried(NAME, "not possible", f"{why}: {with_what}", step.at, numbers, curve)
    assert guess is not None
    said = (
        f"{with_what}, and the best constant, which does not look at the input, has {guess.loss:.3g}: "
        "the model cannot tell the samples of the batch apart, or learns nothing from them"
    )
    return Tried(NAME, "failed", said, step.at, numbers, curve)


def _goal(first: float, guess: Guess | None) -> float:
    return _LEARNT * guess.loss if guess is not None else _FALLEN * first


def _undecided(tries: list[Tries], best: float, guess: Guess | None, size: int) -> str:
    """Why a loss that has not fallen far enough is no proof; empty where it is one."""
    if any(len(one.losses) < _FEWEST_STEPS for one in tries[1:]):
        return "there was no time for enough steps"
    if guess is None:
        return "nothing says how far this loss can fall"
    if size < 2 * guess.targets:
        return f"{size} weights are too few to learn {guess.targets} targets by heart"
    return "" if best > _NOT_LEARNT * guess.loss else "it has learnt a part of the batch"


def _tries(
    step: Step, taped: Taped, optimizer: torch.optim.Optimizer, guess: Guess | None
) -> Iterator[Tries]:
    """Train with the program's own optimizer, then with Adam, until one has learnt the batch."""
    own = Replay(taped, optimizer)
    assert own.optimizer is not None
    name = type(optimizer).__name__
    done = trained(own, own.optimizer, f"the program's {name}", step.until(1 / 3), guess)
    yield done
    for rate in _RATES:
        if done.best <= _goal(done.losses[0], guess):
            return
        copy = Replay(taped, None)
        adam = torch.optim.Adam(copy.parameters, lr=rate)
        done = trained(copy, adam, f"Adam at {rate:g}", step.until(1 / 3), guess)
        yield done


def trained(
    copy: Replay, optimizer: torch.optim.Optimizer, by: str, until: float, guess: Guess | None
) -> Tries:
    """Take steps on one batch until it is learnt, or the time is over."""
    copy.without_dropout()
    losses: list[float] = []
    while len(losses) < _MOST_STEPS and (len(losses) < 2 or time.monotonic() < until):
        losses.append(copy.step(optimizer))
        if not math.isfinite(losses[-1]) or losses[-1] <= _goal(losses[0], guess):
            break
    return Tries(by, losses)


def _guess(taped: Taped) -> Guess | None:
    """What the best constant gives; None where the loss is more than one of torch's, or that is not known."""
    losses = [(number, one) for number, one in taped.calls if one.name in LOSS_FUNCTIONS]
    if len(losses) != 1 or taped.roots != (Slot(losses[0][0], 0),):
        return None
    called = losses[0][1]
    given = [*called.args[:2], *(called.kwargs[key] for key in ("input", "target") if key in called.kwargs)]
    if len(given) != 2 or not isinstance(given[1], torch.Tensor):
        return None
    found = best_constant(called.name, given[1], called.args[2:], called.kwargs)
    return Guess(*found) if found is not None else None
