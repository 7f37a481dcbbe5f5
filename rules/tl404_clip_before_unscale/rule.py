from collections.abc import Iterator

from trainlint.facts.ask.precision import may_be_disabled
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep, Unscale
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error", confidence="likely")
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
                clip, others = _clips(run[:position])
                right.update(map(id, others))
                if clip is not None:
                    wrong.setdefault(id(clip), (clip, event))
    for number, (clip, step) in wrong.items():
        if number not in right and not _is_among_hooks_that_unscale(training, clip):
            yield Finding(
                clip.at,
                "Gradients are clipped while they are still multiplied by the loss scale, so the threshold "
                "is tens of thousands of times too strict. Call the scaler's `unscale_(optimizer)` before "
                "clipping.",
                (Because(step.at, "the scaler only unscales here"),),
            )


def _is_among_hooks_that_unscale(training: Training, clip: Clip) -> bool:
    """Whether the loop around a clipping has no backward pass and unscales too: it is over hooks, in an order that their
    list has."""
    if not clip.loops or training.inside(clip.loops[-1], Backward):
        return False
    return bool(training.inside(clip.loops[-1], Unscale))


def _clips(before: list[Event]) -> tuple[Clip | None, list[Clip]]:
    """The first clipping since the last backward, if nothing was unscaled before it, and the others that a step uses."""
    first: Clip | None = None
    others: list[Clip] = []
    for event in reversed(before):
        match event:
            case Clip() if event is first:
                continue  # in a loop over hooks
            case Clip():
                others += [first] if first is not None else []
                first = event
            case Unscale():
                others += [first] if first is not None else []
                first = None
            case Backward():
                return first, others
            case OptimizerStep():
                break
    return None, [*others, first] if first is not None else others
