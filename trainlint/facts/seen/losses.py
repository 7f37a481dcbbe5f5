"""The losses of a run, step by step."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class LossSeen:
    """A loss that was computed, or that gradients were computed for.

    Args:
        name: of the function or module, such as `F.cross_entropy`; `backward()` for what that is called on.
        step: how many optimizer steps were taken before.
        value: the loss, or its mean where it is no single number.
        guessing: what the same targets give without looking at the input; None where that is not known.
        guess: what is guessed: `log of 10 classes`, or the constant that fits the targets best.
    """

    at: Place
    name: str
    step: int
    value: float
    guessing: float | None = None
    guess: str = ""
