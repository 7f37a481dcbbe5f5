from collections.abc import Iterator

from trainlint.facts.events import Backward, Event, OptimizerStep, ParametersRead, ZeroGrad
from trainlint.facts.evidence import of_idle
from trainlint.facts.torch_api import OPTIMIZER
from trainlint.facts.training import Training, same_parameters
from trainlint.facts.values import Object, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    if training.events(ParametersRead):
        return
    judged: set[int] = set()
    for zero in training.events(ZeroGrad):
        optimizer = next(alternatives(zero.target), None)
        if not isinstance(optimizer, Object) or not optimizer.is_a(OPTIMIZER) or optimizer.uid in judged:
            continue
        backward = _backward_after(training, zero)
        if (
            backward is None
            or optimizer.at is None
            or any(same_parameters(optimizer, step.optimizer) for step in training.events(OptimizerStep))
            or training.may_touch(optimizer, None)
        ):
            continue
        judged.add(optimizer.uid)
        yield Finding(
            backward.at,
            f"Gradients are computed here in every round, but `{optimizer.type.rpartition('.')[2]}` never steps, so "
            "its parameters stay as they are. Call `step()` on it after `backward()`.",
            (Because(optimizer.at, "this optimizer never steps"),),
            evidence=of_idle(training, optimizer),
        )


def _backward_after(training: Training, zero: ZeroGrad) -> Backward | None:
    """The backward in the same loops as a `zero_grad()`: the next one, or the first of the round."""
    backwards = [one for one in training.events(Backward) if one.loops and one.loops == zero.loops]
    order = {id(event): number for number, event in enumerate(training.events(Event))}
    later = (one for one in backwards if order[id(one)] > order[id(zero)])
    return next(later, backwards[0] if backwards else None)
