from collections.abc import Iterator

from trainlint.facts.events import Backward, Built, Escape, OptimizerStep
from trainlint.facts.measuring import only_measures
from trainlint.facts.precision import Casting, casts_of, is_unscaled, scaling
from trainlint.facts.recorded import Recorded
from trainlint.facts.torch_api import SCALER
from trainlint.facts.training import Training
from trainlint.facts.values import Object, alternatives, compatible
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    backwards = [one for one in training.events(Backward) if not one.by_framework]
    if _has_scaler(training, backwards) or only_measures(training):
        return
    said: set[Place] = set()
    for backward in backwards:
        if backward.at in said or not _is_used(training, backward):
            continue
        half = _half(training, backward)
        if half is not None and half.region.at is not None:
            said.add(backward.at)
            runs = "can run" if half.guards else "runs"
            yield Finding(
                backward.at,
                f"The forward pass {runs} in float16, and nothing scales the loss: gradients below 6e-8 "
                "become 0, and those below 6e-5 lose precision, so weights learn slowly or not at all. Use "
                "`torch.amp.GradScaler`, or bfloat16, which needs no scaler.",
                (Because(half.region.at, "autocast computes in float16 here"),),
                level="warning" if half.guards else None,
                evidence={"autocast": half.dtype, "scaler": "none"} if isinstance(training, Recorded) else {},
            )


def _half(training: Training, backward: Backward) -> Casting | None:
    """The region of autocast to float16 that the gradients of a loss go through."""
    found = None
    for one in casts_of(backward.loss, backward.guards):
        if not one.dtype:
            training.leave_open(backward.at)
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
    return optimizer.type.startswith("torch.optim.") and "?" not in optimizer.type
