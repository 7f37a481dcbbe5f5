from collections.abc import Iterable, Iterator
from itertools import chain

from trainlint.facts.ask.escapes import may_run_backward
from trainlint.facts.ask.stepped import certainly_clears, certainly_steps
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Finding
from trainlint.rule import rule

LATE = "after the optimizer has used them, so the step is not clipped"
EARLY = "before `backward()` has computed any, so there is nothing to clip"


@rule(Training, level="error", confidence="likely", absence=True)
def check(training: Training) -> Iterator[Finding]:
    doubtful = {
        id(one)
        for one in training.events(Clip)
        if _step(training, one, training.events(OptimizerStep)) is not None
    }
    if not doubtful:
        return
    has_backward = bool(training.events(Backward))
    wrong: dict[int, tuple[Clip, OptimizerStep, str]] = {}
    right: set[int] = set()
    clipped: set[int] = set()
    for run in training.runs(Backward, Clip, Escape, OptimizerStep, ParametersRead, ZeroGrad):
        for position, clip in enumerate(run):
            if not isinstance(clip, Clip) or id(clip) not in doubtful - right:
                continue
            before = run[:position]
            step = _step(training, clip, chain(reversed(before), run[position:]))
            if step is None:
                continue
            why = _why_nothing_is_clipped(before, step)
            if why is EARLY and not has_backward:
                why = None  # a method of a wrapper: whoever calls it has computed the gradients
            if why is None:
                right.add(id(clip))
                clipped.add(id(step))
            else:
                wrong.setdefault(id(clip), (clip, step, why))
    for number, (clip, step, why) in wrong.items():
        if number not in right and not (why is LATE and id(step) in clipped):
            yield Finding(
                clip.at,
                f"Gradients are clipped {why}. Clip between `backward()` and `step()`.",
                (Because(step.at, "the optimizer uses the gradients here"),),
            )


def _step(training: Training, clip: Clip, events: Iterable[Event]) -> OptimizerStep | None:
    """The first step that certainly uses the gradients that are clipped."""
    steps = (one for one in events if isinstance(one, OptimizerStep))
    return next((one for one in steps if certainly_steps(training, one.optimizer, clip)), None)


def _why_nothing_is_clipped(before: list[Event], step: OptimizerStep) -> str | None:
    """None where there may be gradients that have not been used or cleared yet."""
    for event in reversed(before):
        match event:
            case Backward() | ParametersRead():
                return None
            case Escape() if may_run_backward(event):
                return None
            case OptimizerStep() if event.optimizer is step.optimizer:
                return LATE
            case ZeroGrad() if certainly_clears(event.target, step.optimizer):
                return EARLY
    return EARLY
