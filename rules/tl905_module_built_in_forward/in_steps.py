"""Layers that a training step creates for itself, while its optimizer is older than they are."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.flow import all_that_makes, is_among
from trainlint.facts.ask.holding import has_parameters, is_part_of
from trainlint.facts.ask.registration import is_kept
from trainlint.facts.model.events.event import Escape, Returned
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import Built, Entrusted, ModuleChanged
from trainlint.facts.model.events.parameters import ParametersListed, ParametersRead, RequiresGrad
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value, alternatives


def built_in_steps(training: Training) -> Iterator[Built]:
    """The layers that are made where a loss of them is trained on, with optimizers that were all made by code which is not in
    sight, and which is not given them."""
    steps = training.events(OptimizerStep)
    made = {one.object.uid for one in training.events(Built)}
    is_open = training.is_test or training.is_cut
    if not steps or is_open or not all(_is_given(one.optimizer, made) for one in steps):
        return
    for built in training.events(Built):
        layer = built.object
        if built.within is not None or not layer.is_a(MODULE) or has_parameters(layer) is not True:
            continue
        if layer.copy_of is not None or built.guards != _guards_of(training, built.loops):
            continue
        if _is_trained_here(training, built, steps) and not _may_be_known_elsewhere(training, layer):
            yield built


def _is_given(optimizer: Value, made: set[int]) -> bool:
    """Whether an optimizer is none of the objects that are made in sight, and no result of a call."""
    return all(isinstance(one, Object) and one.uid not in made for one in alternatives(optimizer))


def _guards_of(training: Training, loops: tuple[int, ...]) -> tuple[object, ...]:
    """The conditions under which all that is done there stands."""
    return training.guards_around(loops[-1]) if loops else ()


def _is_trained_here(training: Training, built: Built, steps: list[OptimizerStep]) -> bool:
    """Whether a step follows in the same iteration that uses the gradients of a loss of a layer."""
    losses = [
        one.loss
        for one in training.events(Backward)
        if one.loops == built.loops and any(_follows(training, step, one) for step in steps)
    ]
    makes = all_that_makes(losses, with_graph=True)
    return any(
        one.records is True and is_among(one.output, makes)
        for one in training.events(Forward)
        if any(each is built.object for each in alternatives(one.module))
    )


def _follows(training: Training, step: OptimizerStep, backward: Backward) -> bool:
    return step.loops == backward.loops and training.is_after(step, backward)


def _may_be_known_elsewhere(training: Training, layer: Object) -> bool:
    """Whether anything but the step itself may get at a layer, list its parameters, freeze them, or give it others."""
    given: list[Value] = [one.module for one in training.events(Entrusted)]
    given += [one.value for one in training.events(Returned)]
    given += [one.target for one in training.events(ParametersListed)]
    given += [one.target for one in training.events(ParametersRead)]
    given += [one.target for one in training.events(RequiresGrad)]
    given += [one.module for one in training.events(ModuleChanged) if not one.draws]
    for escape in training.events(Escape):
        given += [*escape.values, *escape.tensors]
    reached = (one for value in given for one in handed_over(value))
    return is_kept(training, layer) or any(
        isinstance(one, Object) and (is_part_of(one, layer) or is_part_of(layer, one)) for one in reached
    )
