from collections.abc import Iterator, Sequence

from trainlint.facts.ask.evidence import of_gradients
from trainlint.facts.ask.stepped import certainly_clears, held_modules, same_parameters
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.parameters import GradientSet
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .micro_batches import cleared_each_time
from .thrown_away import thrown_away


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    yield from cleared_each_time(training)
    wiped: dict[int, tuple[ZeroGrad, Backward, OptimizerStep]] = {}
    fine: set[int] = set()
    replaced = (GradientSet,) if training.events(GradientSet) else ()
    runs = training.runs(Backward, OptimizerStep, ZeroGrad, *replaced)
    for run in runs:
        for position, event in enumerate(run):
            if not isinstance(event, OptimizerStep) or not training.is_optimizer(event.optimizer):
                continue
            before = _wiping(run[:position], event)
            if before is None:
                fine.add(id(event))
            else:
                wiped.setdefault(id(event), (*before, event))
    for first, clear, second, last in thrown_away(training, runs):
        yield Finding(
            clear.at,
            "This clears the gradients that `backward()` has computed of the loss before, which no step has used: the next step "
            "has those of the last loss alone. Clear them once, before the first `backward()`.",
            (
                Because(first.at, "these gradients are lost"),
                Because(second.at, "and these alone are left"),
                Because(last.at, "for this step"),
            ),
            confidence="likely",
            doubt="the first pass may be for something else than this step",
        )
    for number, (zero, backward, step) in wiped.items():
        if number not in fine:
            yield Finding(
                zero.at,
                "This clears the gradients that `backward()` has just computed, so the next step has none. "
                "Call it before `backward()`, or after `step()`.",
                (
                    Because(backward.at, "gradients are computed here"),
                    Because(step.at, "and would be used here"),
                ),
                evidence=of_gradients(training, step.optimizer),
            )


def _wiping(before: Sequence[Event], step: OptimizerStep) -> tuple[ZeroGrad, Backward] | None:
    """The call that cleared gradients between the last backward and a step, if there is one."""
    zero: ZeroGrad | None = None
    for event in reversed(before):
        match event:
            case ZeroGrad() if step.at in event.calls:
                continue  # a hook of the step, which has used the gradients by then
            case GradientSet() if zero is None and same_parameters(event.target, step.optimizer):
                return None  # what was cleared before is there again
            case ZeroGrad() if certainly_clears(event.target, step.optimizer):
                zero = event
            case Backward() if event.inputs is not None or _is_older(event, step):
                return None
            case Backward():
                return (zero, event) if zero is not None else None
            case OptimizerStep() if event.optimizer is step.optimizer:
                return None
    return None


def _is_older(backward: Backward, step: OptimizerStep) -> bool:
    """Whether a loss was computed before any of the modules that are stepped was made: it is of something else."""
    held = held_modules(step.optimizer)
    return bool(held) and min(held) > backward.loss.uid
