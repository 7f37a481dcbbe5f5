"""Everything that a rule can be about: what happened in a training, and what follows from it as a fact of its own."""

from __future__ import annotations

from typing import TypeVar

from trainlint.facts.ask.asking import question
from trainlint.facts.ask.masks_met import MaskMet, masks_met
from trainlint.facts.ask.registration import unregistered
from trainlint.facts.model.modules import Unregistered
from trainlint.facts.model.training import Training

F = TypeVar("F")


def facts_of(training: Training, kind: type[F]) -> list[F]:
    """Everything of one type in a training: itself, its layers and events, what a run has shown, or what follows."""
    known = training.facts(kind)
    if kind is Unregistered:
        return [*known, *unregistered(training)]  # type: ignore[list-item]
    if kind is MaskMet:
        return [*known, *masks_of(training)]  # type: ignore[list-item]
    return known


@question(start=(), unknown=())
def masks_of(training: Training) -> tuple[MaskMet, ...]:
    """Every mask that meets scores."""
    return tuple(masks_met(training))
