from collections.abc import Iterator

from trainlint.facts.api.classes import SCALER, SOME_OPTIMIZER
from trainlint.facts.ask.measuring import only_measures
from trainlint.facts.ask.precision import Casting, casts_of, is_unscaled, scaling
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, alternatives, compatible
from trainlint.finding import Because, Finding, Open, Place
from trainlint.rule import rule


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding | Open]:
    backwards = [one for one in training.events(Backward) if not one.by_framework]
    if _has_scaler(training, backwards) or only_measures(training):
        return
    said: set[Place] = set()
    for backward in backwards:
        if backward.at in said or not _is_used(training, backward):
            continue
        if any(not one.dtype for one in casts_of(backward.loss, backward.guards)):
            yield Open(backward.at, "in which type autocast computes")
        half = _half(backward)
        if half is not None and half.region.at is not None:
            said.add(backward.at)
            runs = "can run" if half.guards else "runs"
            yield Finding(
                backward.at,
                f"The forward pass {runs} in float16, and nothing scales the loss: gradients below 6e-8 "
                "become 0, and those below 6e-5 lose precision, so weights learn slowly or not at all. Use "
                "a `GradScaler`, or bfloat16, which needs no scaler.",
                (Because(half.region.at, "autocast computes in float16 here"),),
                level="warning" if half.guards else None,
                evidence={"autocast": half.dtype, "scaler": "none"} if isinstance(training, Recorded) else {},
            )


def _half(backward: Backward) -> Casting | None:
    """The region of autocast to float16 that the gradients of a loss go through."""
    found = None
    for one in casts_of(backward.loss, backward.guards):
        if one.dtype == "float16" and compatible(one.guards, backward.guards):
            found = found or one
    return found if found is not None and is_unscaled(backward.loss) else None


def _has_scaler(training: Training, backwards: list[Backward]) -> bool:
    return (
        any(one.object.is_a(SCALER) for one in training.events(Built))
        or any(one.scaler is not None for one in training.events(OptimizerStep))
        or any(True for one in backwards for _ in scaling(one.loss))
    )


def _is_used(training: Training, backward: Backward) -> bool:
    """Whether an optimizer of torch's, or one that is not known, steps with these gradients, and no other code that
    gets the loss runs backward in its own way."""
    losses = {one.uid for one in alternatives(backward.loss)}
    for escape in training.events(Escape):
        handed = {one.uid for value in escape.values for one in alternatives(value)}
        if losses & handed and not compatible(escape.guards, backward.guards):
            return False
    return any(
        compatible(step.guards, backward.guards)
        for step in training.events(OptimizerStep)
        if all(_is_plain(one) for one in alternatives(step.optimizer) if isinstance(one, Object))
    )


def _is_plain(optimizer: Object) -> bool:
    is_known = optimizer.type.startswith("torch.optim.") and "?" not in optimizer.type
    return is_known or optimizer.type == SOME_OPTIMIZER
