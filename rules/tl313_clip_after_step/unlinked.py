"""Parameters that a function is handed beside the optimizer that steps them: nothing else in it links the two."""

from __future__ import annotations

from trainlint.facts.api.classes import OPTIMIZER, SOME_MODULE
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Unknown, Value, alternatives


def is_all_there_is(training: Training, step: OptimizerStep, clip: Clip) -> bool:
    """Whether a function does nothing but to run backward, to clip and to step, each once, with a loss, parameters and an optimizer
    that it is handed: `def optimize(loss, optimizer, parameters)`."""
    optimizers = {one.uid for one in training.objects if one.is_a(OPTIMIZER)}
    return (
        training.entry == "function"
        and all(len(training.events(kind)) == 1 for kind in (Backward, Clip, OptimizerStep))
        and all(isinstance(one.loss, Unknown) for one in training.events(Backward))
        and optimizers == {one.uid for one in alternatives(step.optimizer)}
        and all(isinstance(one, Object) and one.is_open for one in alternatives(step.optimizer))
        and _is_handed(clip.parameters)
    )


def _is_handed(parameters: Value) -> bool:
    """Whether these are an argument of the function, or the parameters of a model that is one."""
    match parameters:
        case Unknown():
            return True
        case Op(name="parameters", inputs=(Unknown(), *_)):
            return True
        case Op(name="parameters", inputs=(Object(type=kind, stands_for=None), *_)):
            return kind == SOME_MODULE
    return False
