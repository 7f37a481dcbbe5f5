from collections.abc import Iterator

from trainlint.facts.events import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.evidence import of_gradients
from trainlint.facts.training import Training
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
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
            if later is None or later.loops != event.loops or later.guards != event.guards:
                fine.add(id(event))
            else:
                early.setdefault(id(event), (event, later))
    for number, (step, backward) in early.items():
        if number not in fine and not training.may_touch_anything(step.loops):
            yield Finding(
                step.at,
                f"`{training.name_of(step)}` runs before the gradients of this batch are computed, so it "
                "uses those of the previous batch, or none. Call `step()` after `backward()`.",
                (Because(backward.at, "the gradients are only computed here"),),
                evidence=of_gradients(training, step.optimizer),
            )
