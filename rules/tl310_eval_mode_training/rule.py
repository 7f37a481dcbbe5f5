from collections.abc import Iterator

from trainlint.facts.events import Backward, Forward, ModeChange, OptimizerStep
from trainlint.facts.flow import is_made_of
from trainlint.facts.training import Training, depends_on_mode, modules_held
from trainlint.facts.values import Object, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    losses = [backward.loss for backward in training.events(Backward)]
    stepped = {
        one.uid
        for step in training.events(OptimizerStep)
        for module in modules_held(step.optimizer)[0]
        for one in alternatives(module)
    }
    trained = [
        forward
        for forward in training.events(Forward)
        if forward.records
        and forward.module.uid in stepped
        and any(is_made_of(loss, forward.output) for loss in losses)
    ]
    if not trained:
        return
    for forward in trained:
        module = forward.module
        if not isinstance(module, Object) or not depends_on_mode(module) or training.is_frozen(module):
            continue
        switched: ModeChange | None = None
        for run in training.runs(ModeChange, Forward):
            last: ModeChange | None = None
            for event in run:
                if isinstance(event, ModeChange) and event.module is module:
                    last = event
                elif event is forward and last is not None and last.training is False:
                    switched = last
        if switched is not None and not training.is_own_choice(switched, forward):
            yield Finding(
                forward.at,
                "This training step runs the model in evaluation mode: dropout is off and batch statistics stand still. "
                "Call `train()` before it.",
                (Because(switched.at, "switched to evaluation here, and not back"),),
            )
