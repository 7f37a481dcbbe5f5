"""The terms of a loss that reach no trainable parameter, though a way to one was there, and what has cut it off."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.attachment import Attachment, attachment, cuts, terms
from trainlint.facts.ask.stops import rounded
from trainlint.facts.model.values import Op, Value


def starving(loss: Value) -> list[Op]:
    """The operations that cut a whole term of a loss off from every trainable parameter."""
    return [cut for term in _starved(loss) for cut in term.cuts]


def unrecorded(loss: Value) -> list[Op]:
    """The operations that a term of a loss depends on and that autograd did not record."""
    return [op for term in unrecorded_terms(loss) for op in term]


def unrecorded_terms(loss: Value) -> list[tuple[Op, ...]]:
    """The same, those of each term by themselves."""
    return [term.unrecorded for term in _starved(loss) if not term.cuts]


def _starved(loss: Value) -> Iterator[Attachment]:
    summed = terms(loss)
    for term in summed:
        found = attachment(term)
        if found.is_starved and not rounded(term) and not any(_faces(other, term) for other in summed):
            yield found


def _faces(other: Value, term: Value) -> bool:
    """Whether two terms are the halves of one, each of which holds one side still: `mse(x.detach(), q)` beside
    `mse(x, q.detach())`, where `q` may be moved by other means."""
    if not (isinstance(other, Op) and isinstance(term, Op) and other.name == term.name):
        return False
    still = [one for one in term.inputs if isinstance(one, Op) and cuts(one)]
    return len(still) == 1 and still[0].inputs[0] in other.inputs
