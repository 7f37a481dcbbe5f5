"""Trainers that an entry point gives to a caller that is not seen: who makes a trainer has it train, and does little else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api.frameworks import TRAINER
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.order import events
from trainlint.facts.model.values import Items, Object, alternatives
from trainlint.program.api import trainers
from trainlint.program.evaluate.keys import TRAINED
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def train(ev: Evaluator, at: s.Span) -> None:
    """Let each of them train that has not been used yet."""
    for returned in [one for one in events(ev.nodes) if isinstance(one, Returned)]:
        held = returned.value.items if isinstance(returned.value, Items) else [returned.value]
        for one in (each for value in held for each in alternatives(value)):
            if isinstance(one, Object) and one.is_a(TRAINER) and ev.store.get((one.uid, TRAINED)) is None:
                trainers.trained(ev, one, "train", Arguments(), at)
