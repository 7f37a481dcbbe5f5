import re
from collections.abc import Iterator
from dataclasses import replace

from trainlint.facts.api.noted import SAVES
from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.modules import ModelKept, StateKept, StateLoaded, StateTaken
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Carried, Op, Value, alternatives
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .kept_models import goes_on, overtakes
from .restored_late import comes_late
from .shared import shared
from .unseen_training import given_back

_BEST = re.compile(r"best", re.IGNORECASE)
_KEEPS_BEST = re.compile(r"best|early_?stop", re.IGNORECASE)
"""What classes and functions are called that keep the best weights."""


@rule(Training, level="error", words="state_dict")
def check(training: Training) -> Iterator[Finding | Open]:
    taken = {one.output.uid: one for one in training.events(StateTaken)}
    if not training.events(StateLoaded):
        for one in taken.values():
            yield Open(one.at, "what becomes of these weights")
    yield from _kept_for_later(training)
    yield from _kept_while_training(training)
    for state, loaded in given_back(training):
        if state.at is not None:
            yield Finding(
                state.at,
                "`state_dict()` returns references to the weights, not a copy: later steps change them too, so "
                "the last weights are restored later, not these. Keep `copy.deepcopy(model.state_dict())`.",
                (Because(loaded.at, "restored here"),),
                confidence="likely",
                doubt="what trains the model in between is not in sight",
                is_shown_by_runs=False,
            )
    for kept in training.events(ModelKept):
        if _BEST.search(kept.name.rpartition(".")[2]) and goes_on(training, kept):
            yield Finding(
                kept.at,
                f"`{kept.name}` is the model itself, not a copy: later steps change it too, so after the loop it has the "
                "last weights, not the best. Keep `copy.deepcopy(model)`.",
                confidence="likely",
                doubt="code that is not in sight may save the weights when they are the best",
                is_shown_by_runs=False,
            )
    for event in training.events(StateLoaded):
        owners = {one.uid for one in alternatives(event.target)}
        for state in _references(event.state):
            if state.owner is None or state.owner.uid not in owners:
                continue
            begun = taken.get(state.uid)
            yield from _used(training, begun, event, "restored")
            if begun is not None and comes_late(training, begun, event):
                yield _finding(begun, event, "restored")
    saves = [
        (call, taken[state.uid])
        for call in training.events(Called)
        if call.name in SAVES and call.args
        for state in _references(call.args[0])
        if state.uid in taken
    ]
    at_once = {one.output.uid for call, one in saves if set(one.loops) <= set(call.loops)}
    for call, one in saves:
        if one.output.uid not in at_once:  # else what is written last is meant to hold the last weights
            yield from _used(training, one, call, "saved")
        elif _is_kept_on(training, one, call):
            yield replace(_finding(one, call, "saved"), is_shown_by_runs=False)


def _kept_for_later(training: Training) -> Iterator[Finding]:
    """What a helper such as early stopping keeps as the best weights, for a method that nobody calls here to restore."""
    is_whole = training.entry == "program" or bool(training.events(OptimizerStep))
    if is_whole or training.events(StateLoaded):
        return
    saved = {
        one.uid
        for call in training.events(Called)
        if call.name in SAVES
        for one in reached(call.args[:1], shared)
    }
    for kept in training.events(StateKept):
        is_best = _BEST.search(kept.attribute) or _KEEPS_BEST.search(training.name)
        if kept.guards and is_best and kept.state.at is not None and kept.state.uid not in saved:
            yield Finding(
                kept.state.at,
                "`state_dict()` returns references to the weights, not a copy: later steps change them too, so what "
                f"`self.{kept.attribute}` keeps are the last weights. Keep `copy.deepcopy(model.state_dict())`.",
                confidence="likely",
                doubt="nobody in sight steps the model after this",
            )


def _kept_while_training(training: Training) -> Iterator[Finding]:
    """What training itself keeps as the best weights in an attribute, which another entry point restores."""
    used = [one.state for one in training.events(StateLoaded)]
    used += [value for one in training.events(Called) if one.name in SAVES for value in one.args[:1]]
    judged = {state.uid for value in used for state in _references(value)}
    for kept in training.events(StateKept):
        is_best = _BEST.search(kept.attribute) and kept.state.uid not in judged
        if is_best and kept.state.at is not None and overtakes(training, kept):
            yield Finding(
                kept.state.at,
                "`state_dict()` returns references to the weights, not a copy: later steps change them too, so after training "
                f"`{kept.attribute}` holds the last weights. Keep `copy.deepcopy(model.state_dict())`.",
                confidence="likely",
                doubt="what restores these weights is not in sight",
                is_shown_by_runs=False,
            )


def _used(
    training: Training, taken: StateTaken | None, used: StateLoaded | Called, how: str
) -> Iterator[Finding]:
    """A state is used after a loop that took it and then continues to step the same model."""
    if taken is None or taken.output.owner is None:
        return
    is_now_and_then = not set(taken.guards) <= set(used.guards) or not all(
        training.is_setting(condition) for condition, _ in training.inside_loop(taken)
    )
    if any(
        loop not in used.loops
        and loop not in taken.output.owner.loops
        and any(
            is_now_and_then or training.is_after(step, taken) for step in training.inside(loop, OptimizerStep)
        )
        for loop in taken.loops
    ):
        yield _finding(taken, used, how)


def _finding(taken: StateTaken, used: StateLoaded | Called, how: str) -> Finding:
    return Finding(
        taken.at,
        "`state_dict()` returns references to the weights, not a copy: later steps change them too, so "
        f"the last weights are {how} later, not these. Keep `copy.deepcopy(model.state_dict())`.",
        (Because(used.at, f"{how} here"),),
    )


def _is_kept_on(training: Training, taken: StateTaken, save: Called) -> bool:
    """Whether a state that is only taken now and then is saved on each iteration, also on those that kept an earlier one,
    between which the model is trained."""
    now_and_then = [guard for guard in taken.guards if guard not in save.guards]
    if all(training.is_setting(condition) for condition, _ in now_and_then):
        return False
    return any(
        isinstance(one, Carried)
        and one.loop in taken.loops
        and one.loop in save.loops
        and one.back is not None
        and any(state is taken.output for state in _references(one.back))
        and bool(training.inside(one.loop, OptimizerStep))
        for one in reached([save.args[0]], shared)
    )


def _references(value: Value) -> Iterator[Op]:
    """The calls of `state_dict` whose tensors a value shares."""
    for one in reached([value], shared):
        if isinstance(one, Op) and one.name == "state_dict" and one.owner is not None:
            yield one
