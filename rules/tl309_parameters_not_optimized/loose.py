"""Layers beside a model: they take part in the loss, and no optimizer holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from trainlint.facts.api.classes import MODULE, PARAMETER
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.attachment import terms
from trainlint.facts.ask.behind_losses import operations_behind
from trainlint.facts.ask.freezing import may_be_frozen
from trainlint.facts.ask.helpers import is_in_sight
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives, constant

from .compared import recorded
from .left_out import LeftOut, Optimizers, is_behind, is_held_outside, is_made_to_be, seen, stands_in


def loose_left_out(training: Training) -> LeftOut | None:
    """What was created beside the model that an optimizer holds, gets gradients together with it, and is in none."""
    found = seen(training)
    if found is None:
        return None
    optimizers, trained = found
    if PARAMETER not in operations_behind(training) and all(map(optimizers.holds, trained)):
        return None
    losses = [one.loss for one in training.events(Backward) if is_in_sight(one)]
    every = reached((one for one in losses if _learns(one, optimizers)), recorded)
    given = frozenset[int]().union(*optimizers.inside.values())
    together = [one for one in every if one.uid not in given]
    owners = with_own_parameters(training, together, optimizers.holds)
    beside = {one.owner for one in together if isinstance(one, Op)}.union(owners)
    left = [
        one
        for one in (*trained, *owners)
        if one in beside and not optimizers.holds(one) and not may_be_frozen(training, one)
    ]
    layers = [
        one
        for one in left
        if one.at is not None
        and not _is_read(one)
        and not _may_be_a_loss(training, one)
        and _is_called_once(training, one)
    ]
    optimizer = next((one for one in optimizers.stepped if one.at is not None), None)
    if optimizer is None or optimizer.at is None or not layers or len(layers) < len(left):
        return None
    if is_made_to_be(training, layers):
        return None
    comes_after = any(one not in trained or is_behind(trained[one], optimizers) for one in layers)
    is_held = is_held_outside(training, layers)
    return LeftOut(optimizer.at, layers, is_beside=True, is_body=not comes_after, is_held=is_held)


def _may_be_a_loss(training: Training, module: Object) -> bool:
    """Whether a module that is not in sight gives the loss itself, or a term of it: most of those have no parameters."""
    return stands_in(module) and any(
        isinstance(one, Op) and one.owner is module
        for backward in training.events(Backward)
        for one in terms(backward.loss)
    )


def _learns(loss: Value, optimizers: Optimizers) -> bool:
    """Whether what an optimizer holds takes part in a loss."""
    return any(
        isinstance(one, Op) and one.owner is not None and optimizers.holds(one.owner, optimizers.stepped)
        for one in reached([loss], recorded)
    )


def with_own_parameters(
    training: Training, used: Iterable[Value], holds: Callable[[Object], bool]
) -> list[Object]:
    """The modules of the program's own of which a parameter is among some values, but for those that share it with a module
    that an optimizer holds: a copy of that has values of its own, under the same number."""
    numbers = {
        one.uid for one in used if isinstance(one, Op) and one.name == PARAMETER and _learns_for_sure(one)
    }
    modules = [one for one in training.objects if one.is_a(MODULE) and not one.type.startswith("torch.")]
    found = {one: numbers & _own_numbers(one) for one in modules} if numbers else {}
    shared = {number for one, own in found.items() if holds(one) for number in own}
    return [one for one, own in found.items() if own - shared]


@question(start=frozenset(), unknown=frozenset())
def _own_numbers(module: Object) -> frozenset[int]:
    return frozenset(part.uid for part in reached(module.attributes.values(), _own_parts))


def _learns_for_sure(parameter: Op) -> bool:
    asked = parameter.option(1, "requires_grad")
    return asked is None or constant(asked) is True


def _own_parts(value: Value) -> Iterable[Value]:
    """What an attribute of a module holds, but for other modules and what parameters are made of."""
    if isinstance(value, Object):
        return value.attributes.values() if value.type in _OF_PARAMETERS else ()
    return () if isinstance(value, Op) else value.parts()


_OF_PARAMETERS = ("torch.nn.ParameterDict", "torch.nn.ParameterList")


def _is_called_once(training: Training, layer: Object) -> bool:
    """Whether losses come from one call of a layer: what compares a prediction with its target is called with both. A call
    that only measures goes into no loss that is trained on."""
    made = _behind_backwards(training)
    calls = [
        one
        for one in training.events(Forward)
        if any(isinstance(each, Object) and is_part_of(layer, each) for each in alternatives(one.module))
        and not made.isdisjoint(each.uid for each in alternatives(one.output))
    ]
    own = [one for one in calls if any(each is layer for each in alternatives(one.module))]
    calls = [one for one in calls if not own or any(_is_inside(each, one) for each in own)]
    return len({(one.at, one.calls) for one in calls if _is_outermost(one, calls)}) <= 1


@question(start=frozenset(), unknown=frozenset())
def _behind_backwards(training: Training) -> frozenset[int]:
    """The numbers of all values that go into losses that are trained on, with their gradients or without."""
    return frozenset(one.uid for one in reached(one.loss for one in training.events(Backward)))


def _is_outermost(forward: Forward, calls: list[Forward]) -> bool:
    return not any(one is not forward and _is_inside(forward, one) for one in calls)


def _is_inside(forward: Forward, around: Forward) -> bool:
    """Whether one forward is the other, or happens in it."""
    begins_with = forward.calls[: len(around.calls)] == around.calls
    return forward is around or (begins_with and around.at in forward.calls)


def _is_read(layer: Object) -> bool:
    """Whether the program reads or sets the weight of a layer of torch's itself."""
    return layer.type.startswith("torch.") and not {"weight", "bias"}.isdisjoint(layer.attributes)
