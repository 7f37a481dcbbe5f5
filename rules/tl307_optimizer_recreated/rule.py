from collections.abc import Iterator

from trainlint.facts.events import Backward, Built, OptimizerStep
from trainlint.facts.evidence import of_rebuilding
from trainlint.facts.torch_api import OPTIMIZER
from trainlint.facts.training import Training, modules_held
from trainlint.facts.values import Constant, Object, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    for built in training.events(Built):
        optimizer = built.object
        if not optimizer.is_a(OPTIMIZER) or not built.loops or not _has_state(optimizer):
            continue
        number = built.loops[-1]
        inside = [guard for guard in built.guards if guard not in training.guards_around(number)]
        modules, complete = modules_held(optimizer)
        models = [one for module in modules for one in alternatives(module)]
        lives_on = (
            bool(models)
            and complete
            and all(
                isinstance(one, Object) and number not in one.loops and not training.is_replaced(one, number)
                for one in models
            )
        )
        steps = [
            step
            for step in training.inside(number, OptimizerStep)
            if any(one is optimizer for one in alternatives(step.optimizer))
        ]
        backwards = training.inside(number, Backward)
        if steps and backwards and lives_on and not inside:
            yield Finding(
                built.at,
                f"This `{optimizer.type.rpartition('.')[2]}` is built anew in every round of the loop, so its momentum "
                "and all other state are thrown away each time. Build it once, before the loop.",
                (Because(training.loops[number].at, "in every round of this loop"),),
                evidence=of_rebuilding(training, built.at),
            )


def _has_state(optimizer: Object) -> bool:
    """Plain SGD has nothing to lose; a rule cannot say so of what it cannot see."""
    if optimizer.type != "torch.optim.SGD":
        return True
    momentum = optimizer.argument(2, "momentum")
    return isinstance(momentum, Constant) and bool(momentum.value)
