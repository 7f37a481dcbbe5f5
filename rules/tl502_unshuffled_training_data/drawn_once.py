"""Samplers that draw an order when they are made, and go through the same one in each epoch."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.loaders import uses
from trainlint.facts.model.events.batches import Ordered
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value

from .reading import draws_order

_DRAWING = frozenset(
    "shuffle randperm permutation permuted sample choice choices multinomial randint random rand seed manual_seed "
    "default_rng Generator RandomState set_epoch".split()
)


def drawn_once(training: Training) -> Iterator[tuple[Object, str, Value]]:
    """Loaders that several epochs are trained on, with the attribute that holds the order of each, and what has drawn it."""
    learned = {
        one.loader.uid
        for one in uses(training)
        if one.trains and len(one.drawn.loops) > len(one.loader.loops) + 1
    }
    for made in training.events(Ordered):
        if made.loader.uid not in learned or not _DRAWING.isdisjoint(made.names | made.others):
            continue
        orders = [
            (name, value)
            for name, value in made.held.items()
            if name in made.names and name not in made.others and draws_order(training, value)
        ]
        if len(orders) == 1:
            yield made.loader, *orders[0]
