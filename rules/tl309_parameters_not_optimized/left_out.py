"""Layers that get gradients and that no optimizer holds, as far as the source shows it for certain."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from trainlint.facts.api.classes import MODULE, OPTIMIZER, SOME_MODULE
from trainlint.facts.api.gradients import NO_GRADIENT
from trainlint.facts.api.layers import WITH_PARAMETERS
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.attachment import cuts, terms
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.escapes import given_to_trainers
from trainlint.facts.ask.freezing import may_be_frozen
from trainlint.facts.ask.helpers import is_in_sight
from trainlint.facts.ask.holding import is_part_of, numbers_inside
from trainlint.facts.ask.interference import may_set_gradients
from trainlint.facts.ask.stepped import lacks_only_single_parameters, modules_held, numbers_held
from trainlint.facts.model.effort import spend
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import Built, ModuleChanged
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Missing, Object, Op, Value, alternatives
from trainlint.finding import Place

from .compared import without_targets
from .twins import are_made_together, made_apart

_MAX_VALUES = 4000


class LeftOut(NamedTuple):
    """Layers that a loss reaches, and an optimizer that should hold them.

    Args:
        at: where the optimizer is made.
        layers: the layers, the one nearest the loss first.
        is_part: whether it holds other layers of the same model.
        is_body: whether the layers that it does hold all come after these.
        has_twin: whether it holds just what another optimizer holds.
        is_beside: whether the layers are no part of what it holds, but take part in the same loss.
        is_later: whether the layers came into the model after it was made.
        is_held: whether an object holds them that code which is not in sight makes.
    """

    at: Place
    layers: list[Object]
    is_part: bool = False
    is_body: bool = False
    has_twin: bool = False
    is_beside: bool = False
    is_later: bool = False
    is_held: bool = False


class Optimizers(NamedTuple):
    """All optimizers of a program, and the modules of which each holds the parameters."""

    held: dict[Object, list[Object]]
    stepped: list[Object]
    inside: dict[Object, frozenset[int]]
    """Numbers of those modules, and of all that they held when the optimizer was given them."""

    def holds(self, layer: Object, by: list[Object] | None = None) -> bool:
        """Whether some optimizer holds a layer, as itself or as the value of unknown code that it is known by."""
        chosen = self.held if by is None else by
        known_as = () if layer.stands_for is None else handed_over(layer.stands_for)
        numbers = {layer.uid}.union(one.uid for one in known_as)
        return any(not numbers.isdisjoint(self.inside[one]) for one in chosen)


def part_left_out(training: Training) -> LeftOut | None:
    """Of a model of which one part is optimized, the other part."""
    found = seen(training)
    if found is None:
        return None
    optimizers, trained = found
    if all(map(optimizers.holds, trained)):
        return None
    models = [one for one in training.objects if one.is_a(MODULE) and one.attributes]
    for model in models:
        numbers = numbers_inside(model)
        among = [one for one in trained if one is not model and one.uid in numbers]
        left = [one for one in among if not optimizers.holds(one)]
        held = [one for one in among if optimizers.holds(one, optimizers.stepped)]
        if left and held and not is_made_to_be(training, left):
            return _of_part(training, model, left, held, optimizers, trained)
    return None


def _of_part(
    training: Training,
    model: Object,
    left: list[Object],
    held: list[Object],
    optimizers: Optimizers,
    trained: dict[Object, Op],
) -> LeftOut | None:
    optimizer = next(one for one in reversed(optimizers.stepped) if optimizers.holds(held[0], [one]))
    if optimizer.at is None:
        return None
    is_later = optimizers.holds(model, [optimizer]) or all(one.uid > optimizer.uid for one in left)
    is_body = not is_later and not any(is_behind(trained[one], optimizers) for one in left)
    is_held = is_held_outside(training, left)
    return LeftOut(optimizer.at, left, is_part=True, is_body=is_body, is_later=is_later, is_held=is_held)


def model_left_out(training: Training) -> LeftOut | None:
    """What no optimizer holds, where one of them holds nothing that is called, or just what another one holds."""
    found = seen(training)
    if found is None:
        return None
    optimizers, trained = found
    left = [one for one in trained if not optimizers.holds(one)]
    if not left or is_made_to_be(training, left):
        return None
    called = [one.module for one in training.events(Forward) if isinstance(one.module, Object)]
    called += _handed_to_losses(training)
    stepped = _suspects_last(training, optimizers.stepped, left)
    for number, one in enumerate(stepped):
        held = optimizers.held[one]
        idle = not training.is_cut and not any(
            is_part_of(module, other) or is_part_of(other, module) for module in held for other in called
        )
        twins = (
            made_apart(one, other)
            for other in stepped[:number]
            if other.type == one.type
            and not _is_instead(training, one, other)
            and are_made_together(training, one, other)
            and {id(module) for module in optimizers.held[other]} == {id(module) for module in held}
        )
        twin = next((at for at in twins if at is not None), None)
        if idle and any(map(stands_in, held)):
            continue  # what is not in sight may be any model, or a part of one
        at = twin or (one.at if idle else None)
        if at is not None:
            return LeftOut(at, left, has_twin=twin is not None, is_held=is_held_outside(training, left))
    return None


def _suspects_last(training: Training, stepped: list[Object], left: list[Object]) -> list[Object]:
    """Optimizers in the order in which they were made, but for one that steps after a loss of nothing but what is in none:
    it should have held that."""
    found = sorted(stepped, key=lambda one: one.uid)
    for backward in training.events(Backward):
        trained = layers_trained(backward.loss)
        later = [one for one in training.events(OptimizerStep) if training.is_after(one, backward)]
        if trained and later and trained.keys() <= set(left):
            after = set(alternatives(later[0].optimizer))
            return sorted(found, key=lambda one: one in after)
    return found


def _handed_to_losses(training: Training) -> list[Object]:
    """The modules that something on the way to a loss is given, as a solver is: it may call them."""
    losses = (one.loss for one in training.events(Backward))
    return [one for one in reached(losses) if isinstance(one, Object) and one.is_a(MODULE)]


def _is_instead(training: Training, one: Object, other: Object) -> bool:
    """Whether the same call steps either optimizer: a program made only one of them before."""
    steps = training.events(OptimizerStep)
    return any(
        (first.at, first.calls) == (second.at, second.calls)
        and any(dict(first.guards).get(condition, holds) is not holds for condition, holds in second.guards)
        for first in steps
        if first.optimizer is one
        for second in steps
        if second.optimizer is other
    )


def stands_in(module: Object) -> bool:
    """Whether a module stands for one that is not in sight."""
    return module.type == SOME_MODULE


@question(start=None, unknown=None)
def seen(training: Training) -> tuple[Optimizers, dict[Object, Op]] | None:
    """The optimizers, and the layers that losses certainly train; None where anything else may have a hand in it."""
    backwards = [one for one in training.events(Backward) if is_in_sight(one)]
    if not backwards or not training.events(OptimizerStep):
        return None
    optimizers = _optimizers(training)
    if optimizers is None:
        return None
    trained: dict[Object, Op] = {}
    for backward in backwards:
        trained.update(layers_trained(backward.loss))
    if not all(map(optimizers.holds, trained)):
        trained = {}
        for backward in backwards:
            trained.update(layers_trained(backward.loss, optimizers))
    trained = {
        one: made
        for one, made in trained.items()
        if not may_be_frozen(training, one) and not _is_met_inside(training, one, optimizers)
    }
    own = {id(one) for one in training.objects if not one.is_given}
    has_other_hands = _may_be_touched(training, trained, optimizers) or _are_trained_by_hand(
        training, backwards, trained
    )
    if has_other_hands or not all(id(one) in own for one in (*trained, *optimizers.held)):
        return None
    return optimizers, trained


def _is_met_inside(training: Training, layer: Object, optimizers: Optimizers) -> bool:
    """Whether a layer that is not in sight is called in the forward of a module that an optimizer holds: it may be a part of
    that, which another method sets."""
    return stands_in(layer) and any(
        forward.at in layer.calls and isinstance(forward.module, Object) and optimizers.holds(forward.module)
        for forward in training.events(Forward)
    )


def _are_trained_by_hand(training: Training, backwards: list[Backward], layers: Collection[Object]) -> bool:
    """Whether code writes parameters of these layers where they are trained. What initialises them has run before."""
    around = dict.fromkeys(one.loops[0] if one.loops else None for one in backwards)
    return any(may_set_gradients(training, loop, layers) for loop in around)


def _optimizers(training: Training) -> Optimizers | None:
    """None where it is not certain which there are, or what they hold."""
    stepped: dict[int, Object] = {}
    for step in training.events(OptimizerStep):
        for one in alternatives(step.optimizer):
            if not isinstance(one, Object):
                return None
            stepped[one.uid] = one
    made = {one.uid: one for one in training.objects if one.is_a(OPTIMIZER)} | stepped
    held: dict[Object, list[Object]] = {}
    for optimizer in made.values():
        modules, complete = modules_held(optimizer)
        known = [one for module in modules for one in alternatives(module)]
        is_all = complete or lacks_only_single_parameters(optimizer)
        if not is_all or not known:
            return None
        held[optimizer] = [one for one in known if isinstance(one, Object)]
        if len(held[optimizer]) < len(known):
            return None
    return Optimizers(held, list(stepped.values()), {one: numbers_held(training, one) for one in held})


def layers_trained(loss: Value, optimizers: Optimizers | None = None) -> dict[Object, Op]:
    """The layers of torch's with parameters that the gradient of a loss certainly reaches, and what they gave.

    Args:
        optimizers: where they are given, those that only make targets for what they hold are left out.
    """
    found: dict[Object, Op] = {}
    pending = [loss]
    criteria = _unseen_criteria(loss)
    seen: set[int] = set()
    while pending and len(seen) < _MAX_VALUES:
        one = pending.pop(0)
        if isinstance(one, Choice):
            one = _there(one)
        if one.uid in seen or isinstance(one, Choice):
            continue
        seen.add(one.uid)
        spend()
        if isinstance(one, Op):
            if one.records is not True or one.name in NO_GRADIENT or cuts(one):
                continue
            layer = one.owner
            is_layer = layer is not None and layer.type.removeprefix("torch.nn.") in WITH_PARAMETERS
            if layer is not None and is_layer and not layer.may_be_a_function and layer not in criteria:
                found.setdefault(layer, one)
        pending.extend(one.parts() if optimizers is None else without_targets(one, optimizers.holds))
    return found


def _unseen_criteria(loss: Value) -> frozenset[Object]:
    """Modules that are not in sight and give a loss itself, of two values: most of these have no parameters."""
    made = [
        each
        for one in terms(loss)
        for each in (
            terms(one.inputs[0])
            if isinstance(one, Op) and one.name in ("mean", "sum") and one.inputs
            else (one,)
        )
    ]
    return frozenset(
        one.owner
        for one in made
        if isinstance(one, Op) and one.owner is not None and stands_in(one.owner) and len(one.inputs) > 1
    )


def _there(found: Choice) -> Value:
    """What a dict has under a key, where it may have nothing there: then the program ends here."""
    held = [one for one in found.parts() if not isinstance(one, Missing)]
    return held[0] if len(held) == 1 else found


def _may_be_touched(training: Training, layers: dict[Object, Op], optimizers: Optimizers) -> bool:
    """Whether unknown code is handed a layer, what it is a part of, or an optimizer; or a weight is tied."""
    tied = any(map(_is_tied, training.objects))
    if tied or any(one.within is not None for one in training.events(Built)):
        return True
    handed = (one for one in given_to_trainers(training) if isinstance(one, Object))
    return any(one in optimizers.held or any(is_part_of(layer, one) for layer in layers) for one in handed)


def _is_tied(layer: Object) -> bool:
    """Whether a weight of a layer may be that of another one: it is set, and not only read."""
    weights = (layer.attributes.get(name) for name in ("weight", "bias"))
    return layer.type.startswith("torch.nn.") and any(
        one is not None and not (isinstance(one, Op) and one.name == "getattr" and one.inputs == (layer,))
        for one in weights
    )


_TRAIN = frozenset("step parameters named_parameters requires_grad_".split())
"""Names in code that may train a layer, or let others do it."""


def is_held_outside(training: Training, layers: list[Object]) -> bool:
    """Whether the object whose method trains holds one of some layers: who makes it may train them too."""
    return any(layer is one for layer in layers for one in training.earlier.objects)


def is_made_to_be(training: Training, layers: list[Object]) -> bool:
    """Whether one of these layers has been given its weights, as a copy has: then it may be meant to keep them; or whether
    another method of the object that holds it may train it."""
    if any(one.copy_of is not None for one in layers):
        return True
    if is_held_outside(training, layers) and not _TRAIN.isdisjoint(training.earlier.others):
        return True
    given = [one for one in training.events(ModuleChanged) if not one.draws]
    return any(
        isinstance(one.module, Object)
        and is_part_of(layer, one.module)
        and not training.is_made_after(layer, one)
        for layer in layers
        for one in given
    )


def is_behind(made: Op, optimizers: Optimizers) -> bool:
    """Whether a value follows from what a module gave that is optimized."""
    return any(
        isinstance(one, Op) and one.owner is not None and optimizers.holds(one.owner)
        for one in reached(made.parts(), most=_MAX_VALUES)
    )
