from collections.abc import Iterator

from trainlint.facts.ask.escapes import may_run_backward
from trainlint.facts.ask.evidence import of_gradients
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.interference import may_touch_anything
from trainlint.facts.ask.trained_by import may_train
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.parameters import GradientSet, ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, compatible
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error", absence=True)
def check(training: Training) -> Iterator[Finding]:
    early: dict[int, tuple[OptimizerStep, Backward]] = {}
    fine: set[int] = set()
    # TL302 needs the same orders, so they are computed once.
    for run in training.runs(Backward, OptimizerStep, ZeroGrad):
        for position, event in enumerate(run):
            if not isinstance(event, OptimizerStep) or not training.is_optimizer(event.optimizer):
                continue
            if any(isinstance(one, Backward) for one in run[:position]):
                if id(event) not in early:
                    fine.add(id(event))
                continue
            later = next((one for one in run[position:] if isinstance(one, Backward)), None)
            if later is None or later.loops != event.loops or not _is_as_often(training, event, later):
                fine.add(id(event))
            else:
                early.setdefault(id(event), (event, later))
    for number, (step, backward) in early.items():
        if number in fine or not may_train(training, backward, step.optimizer):
            continue
        if not _has_other_gradients(training, step, backward):
            yield Finding(
                step.at,
                f"`{training.name_of(step)}` runs before the gradients of this batch are computed, so it "
                "uses those of the previous batch, or none. Call `step()` after `backward()`.",
                (Because(backward.at, "the gradients are only computed here"),),
                evidence=of_gradients(training, step.optimizer),
            )


def _is_as_often(training: Training, step: OptimizerStep, backward: Backward) -> bool:
    """Whether a step is taken whenever its backward runs: the optimizer may be one of several, and the loss."""
    return training.shared_guards(step) <= training.shared_guards(backward)


def _has_other_gradients(training: Training, step: OptimizerStep, backward: Backward) -> bool:
    """Whether code that is not known may have run backward before a step. What has computed this batch's loss has not,
    and what stands on another branch neither."""
    escapes = training.around(step.loops, Escape)
    makers = {one.at for one in made_of(backward.loss) if isinstance(one, Op)}
    if may_touch_anything(training, step.loops) or _are_set_by_hand(training, step):
        return True
    return any(
        escape.at not in makers
        and compatible(escape.guards, backward.guards)
        and training.is_after(step, escape)
        and may_run_backward(escape)
        for escape in escapes
    )


def _are_set_by_hand(training: Training, step: OptimizerStep) -> bool:
    """Whether code before a step sets gradients, such as those that `torch.autograd.grad` has given."""
    written = [one for one in training.events(ParametersRead) if one.sets]
    return any(
        one.loops[: len(step.loops)] == step.loops and training.is_after(step, one)
        for one in (*written, *training.events(GradientSet))
    )
