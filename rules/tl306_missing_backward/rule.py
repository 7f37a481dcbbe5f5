from collections.abc import Iterator

from trainlint.facts.ask.evidence import of_gradients
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.interference import may_touch_anything
from trainlint.facts.ask.stepped import modules_stepped
from trainlint.facts.ask.trained_by import may_train
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    if any(not one.loops for one in training.events(Backward)):
        return
    for step in training.events(OptimizerStep):
        forward = _trained_with(training, step)
        if (
            forward is None
            or not training.is_optimizer(step.optimizer)
            or any(
                may_train(training, one, step.optimizer) for one in training.inside(step.loops[0], Backward)
            )
            or _has_gradients_of_its_own(training, step.loops[0])
            or may_touch_anything(training, step.loops)
            or _goes_elsewhere(training, forward, step.loops[-1])
        ):
            continue
        made = _loss_that_is_no_tensor(training, step.loops[-1])
        if made is not None and made.at is not None:
            name = made.type.removeprefix("torch.")
            yield Finding(
                made.at,
                f"This creates a `{name}` with the prediction and the target as its settings, and computes no loss, so "
                f"there is nothing for `backward()`. Create it first: `{name}()(prediction, target)`.",
                (Because(step.at, "this optimizer gets no gradients"),),
            )
            continue
        evidence = of_gradients(training, step.optimizer)
        if evidence.get("of them without a gradient") == evidence.get("parameters that stepped"):
            yield Finding(
                step.at,
                f"`{training.name_of(step)}` steps on every iteration of this loop, but nothing in it "
                "computes gradients, so the parameters never change. Call `backward()` on the loss before "
                "`step()`.",
                (
                    Because(forward.at, "the model is called here, and no `backward()` follows"),
                    Because(training.loops[step.loops[-1]].at, "on every iteration of this loop"),
                ),
                evidence=evidence,
            )


def _loss_that_is_no_tensor(training: Training, loop: int) -> Object | None:
    """The object of a loss class that `backward` is called on in a loop: the class was called in place of an object."""
    receivers = (call.args[0] for call in training.inside(loop, Called) if call.name == "backward")
    return next((one for one in receivers if isinstance(one, Object)), None)


def _trained_with(training: Training, step: OptimizerStep) -> Forward | None:
    """A recorded call of a model in the optimizer, in the loop of the step."""
    held = {one.uid for module in modules_stepped(training, step.optimizer) for one in alternatives(module)}
    if not step.loops:
        return None
    return next(
        (
            one
            for one in training.inside(step.loops[-1], Forward)
            if one.records is not False and one.module.uid in held
        ),
        None,
    )


def _has_gradients_of_its_own(training: Training, loop: int) -> bool:
    """Whether gradients are set, or computed without `backward`: where they are only read, there is none to be read."""
    return any(one.of_gradients and not one.only_reads for one in training.inside(loop, ParametersRead))


def _goes_elsewhere(training: Training, forward: Forward, loop: int) -> bool:
    """Whether unknown code receives the output of the model, and may run its backward."""
    return any(
        is_made_of(value, forward.output, with_graph=True)
        for escape in training.inside(loop, Escape)
        for value in (*escape.values, *escape.tensors)
    )
