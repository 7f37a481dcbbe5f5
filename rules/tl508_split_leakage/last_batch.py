"""Validation that goes through its own batches, and gives the model one that was trained on."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.loaders import in_evaluation, purpose_of
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Unknown, Value

KEEPS_BATCH = frozenset(
    "getitem getattr to cuda cpu float long double half view reshape flatten squeeze unsqueeze permute transpose "
    "contiguous requires_grad_".split()
)
_GO_THROUGH = frozenset(("enumerate", "tqdm", "iter", "track", "islice"))
_MOST_STEPS = 20


def of_training(training: Training) -> Iterator[tuple[Forward, Op]]:
    """Where a model is evaluated on the last batch that it was trained on, in a loop over other batches."""
    forwards = training.events(Forward)
    for forward in forwards:
        loop = training.loops.get(forward.loops[-1]) if forward.loops else None
        if loop is None or not _is_of_batches(loop.over):
            continue
        if not (forward.records is False or in_evaluation(training, forward)):
            continue
        drawn = [one for given in forward.inputs if (one := _batch(given)) is not None]
        if not drawn or any(one.loops[-1] in forward.loops for one in drawn):
            continue
        if not all(_is_trained_on(training, one) for one in drawn):
            continue
        own = (one for one in forwards if loop.number in one.loops)
        if not any(_is_of_loop(given, loop.number) for one in own for given in one.inputs):
            yield forward, drawn[0]


def targets_of_training(training: Training) -> Iterator[tuple[LossCall, Op]]:
    """Where a loss compares what a model makes of a batch with the targets of the last one that was trained on."""
    for loss in training.events(LossCall):
        loop = training.loops.get(loss.loops[-1]) if loss.loops else None
        if loss.target is None or loss.output.records is not False or loop is None:
            continue
        drawn = _batch(loss.target)
        if drawn is None or drawn.loops[-1] in loss.loops or not _is_of_batches(loop.over):
            continue
        if _is_trained_on(training, drawn) and not _is_of(loss, drawn):
            yield loss, drawn


def _is_of(loss: LossCall, drawn: Op) -> bool:
    return loss.input is not None and is_made_of(loss.input, drawn)


def _is_of_batches(over: Value | None) -> bool:
    """Whether a loop goes through a loader: by what made it, or by a name that says that it evaluates."""
    for _ in range(_MOST_STEPS):
        match over:
            case Op(name=name, inputs=(inner, *_)) if name.rpartition(".")[2] in _GO_THROUGH:
                over = inner
            case Object():
                return over.is_a(LOADER)
            case Unknown(text=name) | Op(name="getattr", text=name):
                return purpose_of(name) == "evaluate"
            case _:
                return False
    return False


def _batch(value: Value) -> Op | None:
    """The batch that a value is, or is a part of."""
    for _ in range(_MOST_STEPS):
        match value:
            case Op(name="iterate") if value.loops:
                return value
            case Op(name=name, inputs=(inner, *_)) if name in KEEPS_BATCH:
                value = inner
            case _:
                return None
    return None


def _is_of_loop(value: Value, loop: int) -> bool:
    batch = _batch(value)
    return batch is None or loop in batch.loops


def _is_trained_on(training: Training, batch: Op) -> bool:
    return any(
        batch.loops[-1] in one.loops and is_made_of(one.loss, batch) for one in training.events(Backward)
    )
