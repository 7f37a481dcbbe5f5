from collections.abc import Iterable, Iterator
from itertools import chain

from trainlint.facts.ask.escapes import may_run_backward
from trainlint.facts.ask.interference import computes_losses
from trainlint.facts.ask.stepped import certainly_clears, certainly_steps
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep, ZeroGrad
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .earlier import Clipped
from .one_group import clips_one_group
from .unlinked import is_all_there_is
from .used_up import used_up

LATE = "after the optimizer has used them, so the step is not clipped"
EARLY = "before `backward()` has computed any, so there is nothing to clip"


@rule(Training, level="error", confidence="likely", absence=True)
def check(training: Training) -> Iterator[Finding]:
    for of_one, optimizer, number in clips_one_group(training):
        yield Finding(
            of_one.at,
            f"Only one param group is clipped here, and this optimizer has {number}: the gradients of the others are used as they "
            'are. Clip all: `[p for group in optimizer.param_groups for p in group["params"]]`.',
            (Because(optimizer.at, "the optimizer and its groups"),) if optimizer.at is not None else (),
            level="warning",
            is_shown_by_runs=False,
        )
    for late in training.events(Clip):
        last = used_up(training, late) if not isinstance(training, Recorded) else None
        if last is not None:
            yield Finding(
                late.at,
                f"Gradients are clipped {LATE}. Clip between `backward()` and `step()`.",
                (Because(last.at, "all optimizers have used the gradients here"),),
                confidence="likely",
                doubt="which of the optimizers holds these parameters is not in sight",
                is_shown_by_runs=False,
            )
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
    models: dict[int, Clipped] = {}
    for run in training.runs(Backward, Clip, Escape, Forward, OptimizerStep, ParametersRead, ZeroGrad):
        for position, clip in enumerate(run):
            if not isinstance(clip, Clip) or id(clip) not in doubtful - right:
                continue
            before = run[:position]
            step = _step(training, clip, chain(reversed(before), run[position:]))
            if step is None:
                continue
            if id(step) not in models:
                models[id(step)] = Clipped(training, step)
            why = _why_nothing_is_clipped(before, step, models[id(step)], _next_backward(run[position:]))
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
    """The first step that uses the gradients that are clipped."""
    steps = (one for one in events if isinstance(one, OptimizerStep))
    return next((one for one in steps if _uses(training, one, clip)), None)


def _uses(training: Training, step: OptimizerStep, clip: Clip) -> bool:
    return certainly_steps(training, step.optimizer, clip) or is_all_there_is(training, step, clip)


def _next_backward(after: list[Event]) -> Backward | None:
    """The backward that is next, before any step: of what comes after an event, or of what was before, from there back."""
    following = next((one for one in after if isinstance(one, (Backward, OptimizerStep))), None)
    return following if isinstance(following, Backward) else None


def _why_nothing_is_clipped(
    before: list[Event], step: OptimizerStep, models: Clipped, backward: Backward | None
) -> str | None:
    """None where there may be gradients that have not been used or cleared yet, or where they were cleared too soon, which
    is another bug. Unknown code that prepares a batch before the model gets it has none to compute, where `backward()` is
    in sight behind the clip, and neither has what computes the loss that this begins with."""
    is_before_forward = may_be_helped = False
    computing = computes_losses([backward]) if backward is not None else set()
    for position in reversed(range(len(before))):
        match event := before[position]:
            case Backward() | ParametersRead() | Escape() if models.come_after(event):
                continue
            case Backward() | ParametersRead():
                return None
            case Forward():
                if may_be_helped:
                    return None
                is_before_forward = backward is not None
            case Escape() if event.at in computing and not _is_handed_objects(event):
                continue
            case Escape() if may_run_backward(event):
                if not is_before_forward or _is_handed_objects(event):
                    return None
                may_be_helped = True
            case OptimizerStep() if event.optimizer is step.optimizer:
                return LATE
            case ZeroGrad() if certainly_clears(event.target, step.optimizer):
                return None if _next_backward(before[position::-1]) is not None else EARLY
    return None if may_be_helped else EARLY


def _is_handed_objects(escape: Escape) -> bool:
    return any(isinstance(one, Object) for one in escape.values)
