"""What was tried on copies of the model and its optimizer, after the recorded step, because somebody asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.finding import Place

VERDICTS = {
    "passed": "passed:",
    "failed": "failed:",
    "not possible": "not possible here, because",
}
"""What stands before a probe's own words."""

QUESTIONS = {
    "overfit": "learns one batch by heart",
    "depends-on-input": "the output depends on the input",
    "samples-independent": "each sample is independent of the others",
    "causal": "no output depends on later inputs",
    "resume": "save, load and step is the step of the run that goes on",
    "learning-rate": "the learning rate is in the range where the loss falls",
    "chance": "the first loss is that of guessing",
    "repeat": "the same step from the same seed is the same step",
    "smaller-batch": "the model takes a batch of one, and a smaller one",
    "modes": "training and evaluation differ by dropout and normalisation alone",
    "gradients": "an `autograd.Function` gives the gradient of what it computes",
}
"""The probes by name, in the order in which they are made, each with what holds where it passes."""


@dataclass(frozen=True)
class Tried:
    """One probe.

    Args:
        name: one of `QUESTIONS`.
        verdict: `passed`, `failed` or `not possible`.
        said: what was seen, or why it was not possible here, in a few words.
        at: where the model is called, or the loss computed.
        numbers: what was measured.
        curve: points to be drawn: the loss by step, or by learning rate.
    """

    name: str
    verdict: str
    said: str
    at: Place | None = None
    numbers: dict[str, float] = field(default_factory=dict)
    curve: tuple[tuple[float, float], ...] = ()
