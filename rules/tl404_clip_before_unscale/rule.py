from collections.abc import Iterator

from trainlint.facts.events import Backward, Clip, Event, OptimizerStep, Unscale
from trainlint.facts.training import Training, may_be_disabled
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    if not any(step.scaler is not None for step in training.events(OptimizerStep)):
        return
    wrong: dict[int, tuple[Clip, OptimizerStep]] = {}
    right: set[int] = set()
    for run in training.runs(Backward, Clip, Unscale, OptimizerStep):
        for position, event in enumerate(run):
            if (
                isinstance(event, OptimizerStep)
                and event.scaler is not None
                and not may_be_disabled(event.scaler)
            ):
                clip = _unscaled_clip(run[:position])
                for one in run[:position]:
                    if isinstance(one, Clip) and one is not clip:
                        right.add(id(one))
                if clip is not None:
                    wrong.setdefault(id(clip), (clip, event))
    for number, (clip, step) in wrong.items():
        if number not in right:
            yield Finding(
                clip.at,
                "Gradients are clipped while they are still multiplied by the loss scale, so the threshold "
                "is tens of thousands of times too strict. Call the scaler's `unscale_(optimizer)` before "
                "clipping.",
                (Because(step.at, "the scaler only unscales here"),),
            )


def _unscaled_clip(before: list[Event]) -> Clip | None:
    """The first clipping since the last backward, if nothing was unscaled before it."""
    clip: Clip | None = None
    for event in reversed(before):
        match event:
            case Clip():
                clip = event
            case Unscale():
                clip = None
            case Backward():
                return clip
            case OptimizerStep():
                return None
    return None
