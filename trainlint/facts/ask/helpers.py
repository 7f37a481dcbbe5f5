"""What the helpers of frameworks that a program calls from its own loop are told, and what they are handed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.api import frameworks as owners
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over, leaves
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.frameworks import Prepared
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Unknown, Value, alternatives, constant


def counting_helpers(training: Training) -> Iterator[Object]:
    """The helpers that count batches and divide losses, as far as no library of their own does that for them; also one that a
    file makes outside of the function that is entered."""
    prepare = (one.by for one in training.events(Prepared))
    for one in dict.fromkeys((*training.objects, *prepare)):
        known = owners.HELPERS.get(one.type)
        if known is not None and known.counts and not any(name in one.options for name in known.elsewhere):
            yield one


def is_in_sight(backward: Backward) -> bool:
    """Whether what runs backward is the program, or a helper of which it is known that it does just that."""
    by = backward.by
    return not backward.by_framework or (by is not None and by.is_a(*owners.HELPERS))


def batches_of_step(helper: Object) -> Value | None:
    """How many batches make a step, as the helper is told; None if it is told nothing."""
    known = owners.HELPERS[helper.type]
    if known.steps is not None and (found := helper.argument(*known.steps)) is not None:
        return found
    if known.plugin is not None:
        name, position, inner = known.plugin
        plugin = helper.options.get(name)
        if isinstance(plugin, Op):
            return plugin.option(position, inner)
    return None


def precision(helper: Object) -> Value | None:
    """In which precision the helper is told to train; None if it is told nothing."""
    known = owners.HELPERS[helper.type]
    return helper.argument(*known.precision) if known.precision is not None else None


def is_one(steps: Value | None) -> bool:
    """Whether each batch certainly makes a step."""
    return steps is None or (
        isinstance(steps, Constant) and not steps.is_default and steps.value in (1, None)
    )


def certain(steps: Value | None) -> int | None:
    """How many batches certainly make a step; None where a user may say otherwise."""
    number = constant(steps)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


class Handed(NamedTuple):
    """The numbers of what a helper is handed, what else it is handed that is not known, and whether that is all."""

    numbers: frozenset[int]
    unknown: tuple[Value, ...]
    is_all: bool

    @property
    def complete(self) -> bool:
        return self.is_all and not self.unknown


def handed_to(training: Training, helper: Object) -> Handed:
    found = [one for one in training.events(Prepared) if one.by is helper]
    held = [leaf for one in found for given in alternatives(one.what) for leaf in (given, *leaves(given))]
    return Handed(
        _with_stand_ins(training, {one.uid for one in held}),
        tuple(
            given
            for one in found
            for given in alternatives(one.what)
            if not all(isinstance(leaf, (Object, Constant)) for leaf in leaves(given))
        ),
        not any(one.is_open for one in found),
    )


def _with_stand_ins(training: Training, numbers: set[int]) -> frozenset[int]:
    """Numbers of values, and of what stands in for those of them that only their use in another function shows."""
    used = (one.module for one in training.events(Forward))
    stepped = (each for one in training.events(OptimizerStep) for each in alternatives(one.optimizer))
    found = {
        one.uid
        for one in (*used, *stepped)
        if isinstance(one, Object) and one.stands_for is not None
        if one.stands_for.uid in numbers
    }
    return frozenset(numbers | found)


def may_be_handed(training: Training, handed: Handed, made: Value) -> bool:
    """Whether a helper is handed an object that the program makes, or may be: something that was there before the object was
    made, or was made of other things, does not hold it, unless code that is not in sight was given it."""
    if made.uid in handed.numbers or not handed.is_all:
        return True
    inside = list(reached(handed.unknown))
    if any(one is made or (isinstance(one, Unknown) and one.uid > made.uid) for one in inside):
        return True
    return bool(inside) and any(
        one is made
        for escape in training.events(Escape)
        for value in escape.values
        for one in handed_over(value)
    )


def is_inside(event: Event, helper: Object, *names: str) -> bool:
    """Whether an event stands in a region of a helper's, or may."""
    return any(
        isinstance(one, Op) and one.owner is helper and one.name.rpartition(".")[2] in names
        for one in event.regions
    )


def has_region(training: Training, helper: Object) -> bool:
    """Whether anything is done in a region of a helper's."""
    return any(is_inside(one, helper, *owners.REGIONS) for one in training.events(Event))


def outputs_in(training: Training, backward: Backward) -> list[Forward]:
    """The calls of modules of whose outputs a loss is made."""
    return [one for one in training.events(Forward) if is_made_of(backward.loss, one.output, with_graph=True)]


def is_divided(loss: Value, helper: Object) -> Op | None:
    """The division of a loss by the number of batches of a step, where there is one."""
    steps = batches_of_step(helper)
    for one in alternatives(loss):
        if not isinstance(one, Op) or one.name not in ("/", "div") or len(one.inputs) != 2:
            continue
        if any(_is_number_of(by, steps, helper) for by in alternatives(one.inputs[1])):
            return one
    return None


def _is_number_of(by: Value, steps: Value | None, helper: Object) -> bool:
    match by:
        case Constant():
            return by is steps or (constant(by) is not None and constant(by) == certain(steps))
        case Op(name="getattr", inputs=(owner, *_), options={"name": Constant(value=str(name))}):
            told = owners.HELPERS[helper.type].steps
            return by is steps or (owner is helper and told is not None and name == told[1])
    return by is steps
