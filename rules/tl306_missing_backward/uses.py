"""What an optimizer trains, put to use where it steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.ask.contents import contents
from trainlint.facts.ask.flow import is_made_of, made_of
from trainlint.facts.ask.holding import numbers_inside, wants_gradient
from trainlint.facts.ask.stepped import certainly_clears, modules_stepped
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.operations import ToHost
from trainlint.facts.model.events.steps import OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives
from trainlint.finding import Place

E = TypeVar("E", bound=Event)


class Use(NamedTuple):
    """Something is computed with the parameters of an optimizer.

    Args:
        at: where.
        output: what comes of it.
        shown: what a message says is done.
    """

    at: Place
    output: Value
    shown: str


def inside(training: Training, loop: int | None, kind: type[E]) -> list[E]:
    """Events of one kind in a loop; where there is no loop, all."""
    return training.events(kind) if loop is None else training.inside(loop, kind)


def trained_with(training: Training, step: OptimizerStep) -> Use | None:
    """A recorded call of a model in the optimizer, or of a part of one, in the loop of the step, or a number that is read of
    what it computes with tensors of its own. Without a loop, the caller may run backward, but not between what clears the
    gradients, this call, and a step after both."""
    if not step.loops and not _is_after_clearing(training, step):
        return None
    held = {
        number
        for module in modules_stepped(training, step.optimizer)
        for one in alternatives(module)
        for number in (one.uid, *(numbers_inside(one) if isinstance(one, Object) else ()))
    }
    forwards = [
        one
        for one in inside(training, step.loops[-1] if step.loops else None, Forward)
        if one.records is not False and (bool(step.loops) or training.is_after(step, one))
    ]
    own = next((one for one in forwards if one.module.uid in held), None)
    found = own or next((one for one in forwards if _runs_some(one, held)), None)
    if found is not None:
        return Use(found.at, found.output, "the model is called")
    return next(_read(training, step), None) if step.loops else None


def _runs_some(forward: Forward, held: set[int]) -> bool:
    """Whether a module that is called, such as a loss that holds the model, calls one that the optimizer holds."""
    return any(
        isinstance(one, Op) and one.owner is not None and one.owner.uid in held and one.records is not False
        for one in made_of(forward.output)
    )


def _read(training: Training, step: OptimizerStep) -> Iterator[Use]:
    """The numbers that the loop of a step reads of what is computed with tensors which the optimizer was given."""
    tensors = [
        one
        for optimizer in alternatives(step.optimizer)
        if isinstance(optimizer, Object) and (given := optimizer.argument(0, "params")) is not None
        for one in contents(given)
        if isinstance(one, Op) and (one.is_leaf or one.name == PARAMETER or wants_gradient(one))
    ]
    for read in training.inside(step.loops[-1], ToHost) if tensors else ():
        value = read.tensor
        if not any(value is one for one in tensors) and any(
            is_made_of(value, one, with_graph=True) for one in tensors
        ):
            yield Use(read.at, value, "a number is read that was computed with its tensors")


def _is_after_clearing(training: Training, step: OptimizerStep) -> bool:
    """Whether the gradients that a step uses were certainly cleared before, in what a caller has no part in."""
    return any(
        certainly_clears(one.target, step.optimizer)
        and set(one.guards) <= set(step.guards)
        and training.is_after(step, one)
        for one in training.events(ZeroGrad)
    )
