"""Which of several outputs without a graph should have one: the others are targets or conditions."""

from __future__ import annotations

from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.stepped import is_certainly_not_stepped
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op


def to_blame(training: Training, term: tuple[Op, ...]) -> list[Op]:
    """Of all outputs that leave a term of a loss without a graph, those that are made of something that has one; where none
    is, those of modules that an optimizer may hold, if there are such."""
    ended = [one for one in term if _ends_a_graph(one)]
    return ended or [one for one in term if not is_certainly_not_stepped(training, one)] or list(term)


def _ends_a_graph(op: Op) -> bool:
    """Whether what autograd did not record is made of what it did: `encoder(generator(noise))`, of the first alone."""
    return any(
        isinstance(one, Op) and one.name not in (PARAMETER, "parameters") and attachment(one).attached
        for one in reached([op])
    )
