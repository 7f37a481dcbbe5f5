"""Which module a training step runs: the one that is called, or the model of the optimizer that is around or inside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import cuts
from trainlint.facts.ask.holding import contains
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.values import Object, Op, Value


def trained_as(forward: Forward, stepped: Sequence[Value]) -> Value | None:
    """The module among those that an optimizer steps whose mode counts for a forward: the called one itself, the one that it
    is a part of (`model.encoder(x)`), or the one that it calls (`criterion_around_model(x, y)`)."""
    module = forward.module
    numbers = {one.uid for one in stepped}
    if module.uid in numbers:
        return module
    around = [one for one in stepped if contains(one, (module.uid,))]
    if around:
        return around[0] if len(around) == 1 else None
    called = {one.uid: one for one in _called_in(forward) if one.uid in numbers}
    return next(iter(called.values())) if len(called) == 1 else None


def _called_in(forward: Forward) -> Iterator[Object]:
    """The modules that a forward calls for its output, and that it holds."""
    every = reached([forward.output], lambda one: () if isinstance(one, Op) and cuts(one) else one.parts())
    for one in every:
        owner = one.owner if isinstance(one, Op) and one.name == "output" else None
        if owner is not None and contains(forward.module, (owner.uid,)):
            yield owner
