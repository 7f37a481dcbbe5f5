"""Rows of which one part is trained on and the other held out, by slices."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.loaders import learned_from, watched_from
from trainlint.facts.ask.sequences import batches
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Value
from trainlint.finding import Place

from .both import pairs
from .splits import are_halves, is_cut, whole

_MOST = 5_000


def by_slices(training: Training) -> Iterator[tuple[Value, Place]]:
    """What is cut, and where the part that is held out is: what models are given, and what loaders read."""
    yield from _halves(learned_from(training), watched_from(training))
    known = batches(training)
    for learned, held_out in pairs(training):
        given = [_inputs(known.get(one.uid)) for one in (learned, held_out)]
        yield from _halves(*(list(reached(one, most=_MOST)) for one in given))


def _halves(learned: list[Value], watched: list[Value]) -> Iterator[tuple[Value, Place]]:
    cuts = [one for one in watched if is_cut(one)]
    if not cuts:
        return
    others = [one for one in learned if is_cut(one)]
    taught = {one.uid for one in others}
    for held_out in cuts:
        if held_out.uid in taught or held_out.at is None:
            continue
        if any(are_halves(one, held_out) for one in others):
            yield whole(held_out), held_out.at


def _inputs(batch: Value | None) -> list[Value]:
    """What of a batch a model is given; targets may be scaled together, which changes their unit alone."""
    if isinstance(batch, Items):
        return batch.items[:1]
    return [] if batch is None else [batch]
