import re
from collections.abc import Iterator

from trainlint.facts.ask.escapes import only_looks
from trainlint.facts.ask.evidence import Evidence, of_gradients
from trainlint.facts.ask.flow import is_made_of, made_of
from trainlint.facts.ask.interference import may_touch_anything
from trainlint.facts.ask.modes import is_inside
from trainlint.facts.ask.stepped import certainly_clears
from trainlint.facts.ask.trained_by import may_train
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .uses import Use, inside, trained_with

_BACKWARD = re.compile("backprop|backward")
"""What an argument is called that makes a model compute gradients in its forward."""


@rule(Training, level="error", confidence="likely", absence=True)
def check(training: Training) -> Iterator[Finding]:
    if any(not one.loops for one in training.events(Backward)):
        return
    for step in training.events(OptimizerStep):
        inner, outer = (step.loops[-1], step.loops[0]) if step.loops else (None, None)
        use = trained_with(training, step)
        if (
            use is None
            or not training.is_optimizer(step.optimizer)
            or any(may_train(training, one, step.optimizer) for one in inside(training, outer, Backward))
            or _has_gradients_of_its_own(training, outer)
            or may_touch_anything(training, step.loops)
            or _goes_elsewhere(training, use, inner)
            or _is_asked_for_backward(use)
        ):
            continue
        made = _loss_that_is_no_tensor(training, inner)
        if made is not None and made.at is not None:
            name = made.type.removeprefix("torch.")
            yield Finding(
                made.at,
                f"This creates a `{name}` with the prediction and the target as its settings, and computes no loss, so "
                f"there is nothing for `backward()`. Create it first: `{name}()(prediction, target)`.",
                (Because(step.at, "this optimizer gets no gradients"),),
            )
            continue
        trains = _trained_before(training, step) if step.loops else None
        if trains is not None:
            yield _left_over(training, step, trains)
            continue
        evidence = of_gradients(training, step.optimizer)
        if evidence.get("of them without a gradient") == evidence.get("parameters that stepped"):
            yield _finding(training, step, use, evidence)


def _finding(training: Training, step: OptimizerStep, use: Use, evidence: Evidence) -> Finding:
    because = [Because(use.at, f"{use.shown} here, and no `backward()` follows")]
    when = "after its gradients were cleared, and nothing in between computes new ones"
    if step.loops:
        when = "on every iteration of this loop, but nothing in it computes gradients"
        because.append(Because(training.loops[step.loops[-1]].at, "on every iteration of this loop"))
    return Finding(
        step.at,
        f"`{training.name_of(step)}` steps {when}, so the parameters never change. Call `backward()` on the loss before "
        "`step()`.",
        tuple(because),
        evidence=evidence,
    )


def _trained_before(training: Training, step: OptimizerStep) -> Backward | None:
    """The last backward of another loop whose gradients the same optimizer has stepped on before this."""
    own = {
        event.loops[-1]
        for event in training.events(OptimizerStep)
        if event.loops and event.optimizer is step.optimizer and training.is_after(step, event)
    }
    found = [
        one
        for one in training.events(Backward)
        if own & set(one.loops) and training.is_after(step, one) and may_train(training, one, step.optimizer)
    ]
    return found[-1] if found else None


def _left_over(training: Training, step: OptimizerStep, trains: Backward) -> Finding:
    """A step in a loop that only evaluates: whether it moves anything depends on what training has left behind."""
    loop = step.loops[-1]
    is_cleared = any(
        certainly_clears(one.target, step.optimizer)
        for one in training.events(ZeroGrad)
        if training.is_after(one, trains) and training.is_after(step, one)
    )
    does = (
        "so it uses none"
        if is_cleared
        else "so each step uses the last ones of the training loop once more, and changes the model"
    )
    return Finding(
        step.at,
        f"`{training.name_of(step)}` steps in a loop that computes no gradients, {does}. Remove this step, or, if this loop is "
        "to train, call `backward()` on its loss.",
        (
            Because(trains.at, "the gradients are computed here"),
            Because(training.loops[loop].at, "on every iteration of this loop"),
        ),
    )


def _loss_that_is_no_tensor(training: Training, loop: int | None) -> Object | None:
    """The object of a loss class that `backward` is called on in a loop: the class was called in place of an object."""
    receivers = (call.args[0] for call in inside(training, loop, Called) if call.name == "backward")
    return next((one for one in receivers if isinstance(one, Object)), None)


def _has_gradients_of_its_own(training: Training, loop: int | None) -> bool:
    """Whether gradients are set, or computed without `backward`: where they are only read, there is none to be read."""
    return any(one.of_gradients and not one.only_reads for one in inside(training, loop, ParametersRead))


def _is_asked_for_backward(use: Use) -> bool:
    """Whether a model of a library is told by an argument that it runs backward itself: `memory_replay_backprop=True`."""
    call = next(iter(use.output.parts()), None)
    options = call.options if isinstance(call, Op) else {}
    return any(_BACKWARD.search(name) and constant(given) is not False for name, given in options.items())


def _goes_elsewhere(training: Training, use: Use, loop: int | None) -> bool:
    """Whether unknown code receives the output of the model, and may run its backward; not what only computes something
    that a loss is then taken of, as features are, nor a layer of another net that is called."""
    losses, nets = inside(training, loop, LossCall), inside(training, loop, Forward)
    makers = {one.at for loss in losses for one in made_of(loss.output) if isinstance(one, Op)}
    return any(
        is_made_of(value, use.output, with_graph=True)
        for escape in inside(training, loop, Escape)
        if escape.at not in makers
        and not only_looks(escape)
        and not any(is_inside(escape, one) for one in nets)
        for value in (*escape.values, *escape.tensors)
    )
