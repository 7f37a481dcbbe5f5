"""Clipping that reaches one param group of several."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.model.events.steps import Clip, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Table, Value, alternatives, constant


def clips_one_group(training: Training) -> Iterator[tuple[Clip, Object, int]]:
    """Clips of `optimizer.param_groups[0]["params"]` alone, each with an optimizer that has more groups, and how many."""
    clips = training.events(Clip)
    if len({one.at for one in clips}) != 1:
        return  # several may reach a group each
    stepped = [one for step in training.events(OptimizerStep) for one in alternatives(step.optimizer)]
    for clip in clips:
        optimizer = _whose_group(clip.parameters)
        groups = optimizer.argument(0, "params") if isinstance(optimizer, Object) else None
        if not isinstance(optimizer, Object) or not isinstance(groups, Items) or optimizer not in stepped:
            continue
        if len(groups.items) > 1 and all(isinstance(one, Table) for one in groups.items):
            yield clip, optimizer, len(groups.items)


def _whose_group(parameters: Value) -> Value | None:
    """The optimizer of whose param groups one is taken by its number."""
    match parameters:
        case Op(
            name="getitem",
            inputs=(
                Op(
                    name="getitem",
                    inputs=(Op(name="getattr", inputs=(optimizer, *_)) as groups, *_),
                    options={"index": index},
                ),
                *_,
            ),
            options={"index": key},
        ) if constant(key) == "params" and constant(groups.options.get("name")) == "param_groups":
            return optimizer if isinstance(constant(index), int) else None
    return None
