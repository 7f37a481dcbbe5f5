import re
from collections.abc import Iterator
from typing import TypeVar

from trainlint.facts.ask.evidence import Evidence, of_gradients
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.holding import numbers_inside
from trainlint.facts.ask.interference import may_touch_anything
from trainlint.facts.ask.stepped import certainly_clears, modules_stepped
from trainlint.facts.ask.trained_by import may_train
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, alternatives, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

E = TypeVar("E", bound=Event)

_BACKWARD = re.compile("backprop|backward")
"""What an argument is called that makes a model compute gradients in its forward."""


@rule(Training, level="error", confidence="likely", absence=True)
def check(training: Training) -> Iterator[Finding]:
    if any(not one.loops for one in training.events(Backward)):
        return
    for step in training.events(OptimizerStep):
        inner, outer = (step.loops[-1], step.loops[0]) if step.loops else (None, None)
        forward = _trained_with(training, step)
        if (
            forward is None
            or not training.is_optimizer(step.optimizer)
            or any(may_train(training, one, step.optimizer) for one in _inside(training, outer, Backward))
            or _has_gradients_of_its_own(training, outer)
            or may_touch_anything(training, step.loops)
            or _goes_elsewhere(training, forward, inner)
            or _is_asked_for_backward(forward)
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
        evidence = of_gradients(training, step.optimizer)
        if evidence.get("of them without a gradient") == evidence.get("parameters that stepped"):
            yield _finding(training, step, forward, evidence)


def _finding(training: Training, step: OptimizerStep, forward: Forward, evidence: Evidence) -> Finding:
    because = [Because(forward.at, "the model is called here, and no `backward()` follows")]
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


def _inside(training: Training, loop: int | None, kind: type[E]) -> list[E]:
    """Events of one kind in a loop; where there is no loop, all."""
    return training.events(kind) if loop is None else training.inside(loop, kind)


def _loss_that_is_no_tensor(training: Training, loop: int | None) -> Object | None:
    """The object of a loss class that `backward` is called on in a loop: the class was called in place of an object."""
    receivers = (call.args[0] for call in _inside(training, loop, Called) if call.name == "backward")
    return next((one for one in receivers if isinstance(one, Object)), None)


def _trained_with(training: Training, step: OptimizerStep) -> Forward | None:
    """A recorded call of a model in the optimizer, or of a part of one, in the loop of the step. Without a loop, the caller
    may run backward, but not between what clears the gradients, this call, and a step after both."""
    if not step.loops and not _is_after_clearing(training, step):
        return None
    held = {
        number
        for module in modules_stepped(training, step.optimizer)
        for one in alternatives(module)
        for number in (one.uid, *(numbers_inside(one) if isinstance(one, Object) else ()))
    }
    return next(
        (
            one
            for one in _inside(training, step.loops[-1] if step.loops else None, Forward)
            if one.records is not False
            and one.module.uid in held
            and (bool(step.loops) or training.is_after(step, one))
        ),
        None,
    )


def _is_after_clearing(training: Training, step: OptimizerStep) -> bool:
    """Whether the gradients that a step uses were certainly cleared before, in what a caller has no part in."""
    return any(
        certainly_clears(one.target, step.optimizer)
        and set(one.guards) <= set(step.guards)
        and training.is_after(step, one)
        for one in training.events(ZeroGrad)
    )


def _has_gradients_of_its_own(training: Training, loop: int | None) -> bool:
    """Whether gradients are set, or computed without `backward`: where they are only read, there is none to be read."""
    return any(one.of_gradients and not one.only_reads for one in _inside(training, loop, ParametersRead))


def _is_asked_for_backward(forward: Forward) -> bool:
    """Whether a model of a library is told by an argument that it runs backward itself: `memory_replay_backprop=True`."""
    call = next(iter(forward.output.parts()), None)
    options = call.options if isinstance(call, Op) else {}
    return any(_BACKWARD.search(name) and constant(given) is not False for name, given in options.items())


def _goes_elsewhere(training: Training, forward: Forward, loop: int | None) -> bool:
    """Whether unknown code receives the output of the model, and may run its backward."""
    return any(
        is_made_of(value, forward.output, with_graph=True)
        for escape in _inside(training, loop, Escape)
        for value in (*escape.values, *escape.tensors)
    )
