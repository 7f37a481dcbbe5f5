"""Models that are kept under another name as the best, and their weights as an attribute, while training goes on."""

from __future__ import annotations

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.stepped import modules_stepped
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.modules import ModelKept, StateKept, StateTaken
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.nodes import Branch, Exit, Node
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Carried, Constant, Object, Value, alternatives


def goes_on(training: Training, kept: ModelKept) -> bool:
    """Whether a loop that did not make the model goes on to step it, and nothing has saved it by then."""
    around = [one for one in kept.loops if one not in kept.module.loops]
    return (
        not _becomes_another(kept.value)
        and any(_is_stepped(training, kept.module, loop) for loop in around)
        and not _is_used_there(training, kept)
    )


def _becomes_another(value: Value) -> bool:
    """Whether a loop makes a variable another model than it was before."""
    before = value
    while isinstance(before, Carried):
        before = before.start
    known = set(alternatives(before))
    return any(
        one not in known and not (isinstance(one, Constant) and one.value is None)
        for one in alternatives(value)
    )


def overtakes(training: Training, kept: StateKept) -> bool:
    """Whether a loop that did not make a model keeps its weights on some iterations, and goes on to step it, and nothing has
    used them by then."""
    model = kept.state.owner
    around = [one for one in kept.loops if model is not None and one not in model.loops]
    if model is None or not around or all(training.is_setting(one) for one, _ in training.inside_loop(kept)):
        return False
    is_used = any(
        _is_beside(one, kept) and any(each is kept.state for each in reached(one.values))
        for one in training.events(Escape)
    )
    loop = training.loops.get(kept.loops[-1])
    is_left = loop is not None and _is_left(loop.body, kept)
    return not is_used and not is_left and any(_is_stepped(training, model, one) for one in around)


def _is_left(nodes: list[Node], kept: Event) -> bool:
    """Whether a loop is left where something happens."""
    for one in nodes:
        for side in (one.then, one.otherwise) if isinstance(one, Branch) else ():
            if kept in side:
                return any(isinstance(each, Exit) for each in side)
            if _is_left(side, kept):
                return True
    return False


def _is_stepped(training: Training, model: Object, loop: int) -> bool:
    """Whether optimizers step a model in a loop, and no other one of its kind: that would be a choice between them."""
    stepped = {
        one
        for step in training.inside(loop, OptimizerStep)
        for value in modules_stepped(training, step.optimizer)
        for one in alternatives(value)
        if isinstance(one, Object)
    }
    alike = [one for one in stepped if one.type == model.type and one.definition is model.definition]
    return model in stepped and len(alike) == 1


def _is_used_there(training: Training, kept: ModelKept) -> bool:
    """Whether the model is saved, or handed to code that is not seen, when it is kept."""
    return (
        any(one.output.owner is kept.module and _is_beside(one, kept) for one in training.events(StateTaken))
        or any(
            _is_beside(one, kept) and _has(kept.module, (*one.args, *one.options.values()))
            for one in training.events(Called)
        )
        or any(_is_beside(one, kept) and _has(kept.module, one.values) for one in training.events(Escape))
    )


def _is_beside(event: Event, kept: Event) -> bool:
    return set(kept.guards) <= set(event.guards)


def _has(model: Object, values: tuple[Value, ...]) -> bool:
    return any(one is model for value in values for one in handed_over(value))
