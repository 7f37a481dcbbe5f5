from collections.abc import Iterator
from dataclasses import replace

from trainlint.facts.api.classes import OPTIMIZER
from trainlint.facts.ask.evidence import Evidence, of_idle
from trainlint.facts.ask.guards import is_in_handler
from trainlint.facts.ask.interference import may_step, uses_gradients
from trainlint.facts.ask.measuring import learns_from_nothing
from trainlint.facts.ask.stepped import modules_held, same_parameters
from trainlint.facts.ask.trained_by import trains_others
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, alternatives
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Because, Finding, Open, Place
from trainlint.rule import rule

from .instead import stepped_instead
from .steps_other import other_stepped

ENOUGH = 20
"""Backward passes after which an optimizer that has not stepped will not step."""


@rule(Training, level="error", confidence="likely", absence=True)
def check(training: Training) -> Iterator[Finding | Open]:
    judged: set[int] = set()
    backwards, goes_on = _backwards_after(training), _loops_that_go_on(training)
    for zero, optimizer in _cleared(training):
        if optimizer.uid in judged:
            continue
        backward = backwards.get(id(zero))
        if (
            backward is None
            or optimizer.at is None
            or optimizer.only_holds
            or not _reaches_any(training, backward.loops[-1], optimizer)
            or any(same_parameters(optimizer, step.optimizer) for step in training.events(OptimizerStep))
            or may_step(training, optimizer, backward.loops[-1])
            or uses_gradients(training, backward.loops[-1])
            or (backward.loops[-1] in goes_on and learns_from_nothing(training, backward.loops[-1]))
        ):
            continue
        if training.leaves_steps_out:
            yield Open(backward.at, "whether this optimizer steps later")
            continue
        judged.add(optimizer.uid)
        yield _finding(backward, optimizer.type, optimizer.at, of_idle(training, optimizer))
    if not isinstance(training, Recorded):
        yield from stepped_instead(training)
        if not judged:
            yield from other_stepped(training)
        yield from _engines(training)
    elif not judged:
        yield from _idle(training)


def _engines(training: Training) -> Iterator[Finding]:
    """What runs backward and steps in one, and is never asked to step."""
    stepped = {one for step in training.events(OptimizerStep) for one in alternatives(step.optimizer)}
    judged: set[int] = set()
    for backward in training.events(Backward):
        by = backward.by
        if by is None or not by.is_a(OPTIMIZER) or by in stepped or by.uid in judged or by.at is None:
            continue
        if backward.loops and not may_step(training, by, backward.loops[-1]):
            judged.add(by.uid)
            yield _finding(backward, by.type, by.at, of_idle(training, by))


def _cleared(training: Training) -> Iterator[tuple[ZeroGrad, Object]]:
    """Each optimizer whose gradients are cleared: by itself, or by the only model that it holds, made in this program."""
    holders: dict[int, list[Object]] = {}
    for one in training.objects:
        if one.is_a(OPTIMIZER) and not one.is_open:
            held, complete = modules_held(one)
            if complete and len(held) == 1:
                holders.setdefault(held[0].uid, []).append(one)
    for zero in training.events(ZeroGrad):
        for target in list(alternatives(zero.target))[:1]:
            if isinstance(target, Object) and target.is_a(OPTIMIZER):
                yield zero, target
            elif len(holders.get(target.uid, ())) == 1:
                yield zero, holders[target.uid][0]


def _reaches_any(training: Training, loop: int, optimizer: Object) -> bool:
    """Whether a loss in a loop may have gradients for an optimizer: one that is cleared to be safe has none to step with."""
    return not all(trains_others(training, one, optimizer) for one in training.inside(loop, Backward))


def _loops_that_go_on(training: Training) -> set[int]:
    """The loops that do something where an iteration has failed, as one that only tries what fits into memory."""
    caught = (one for one in training.events(Called) if is_in_handler(one.guards))
    return {loop for one in caught for loop in one.loops}


def _finding(backward: Backward, kind: str, at: Place, evidence: Evidence) -> Finding:
    return Finding(
        backward.at,
        f"Gradients are computed here on every iteration, but {_name(kind)} never steps, so "
        "its parameters never change. Call its `step()` after `backward()`.",
        (Because(at, "this optimizer never steps"),),
        evidence=evidence,
    )


def _name(kind: str) -> str:
    last = kind.rpartition(".")[2]
    return "this optimizer" if "?" in last else f"`{last}`"


def _idle(run: Recorded) -> Iterator[Finding]:
    """Optimizers of a recorded run that never use gradients of theirs. While others step, they may still step later."""
    backwards, passes = run.events(Backward), run.ending.backwards
    is_over = run.ending.how in ("finished", "waited")
    if run.ending.by_hand or passes < (2 if is_over else ENOUGH):
        return
    for one in run.facts(OptimizerSeen):
        held = [known for known in run.facts(ParameterSeen) if one.number in known.optimizers]
        if one.steps or one.skipped or one.at is None or any(known.stepped or known.moved for known in held):
            continue
        if any(known.reached for known in held):
            evidence = {"backward passes": passes, "its steps": 0, "its parameters": one.parameters}
            found = _finding(backwards[-1], one.type, one.at, evidence)
            yield found if is_over else replace(found, level="warning")


def _backwards_after(training: Training) -> dict[int, Backward]:
    """For each `zero_grad()`, the backward in the same loops: the next one, or the first of the iteration."""
    coming = {one.loops: one for one in reversed(training.events(Backward)) if one.loops}
    found: dict[int, Backward] = {}
    for event in reversed(training.events(Event)):
        if isinstance(event, Backward):
            coming[event.loops] = event
        elif isinstance(event, ZeroGrad) and event.loops and event.loops in coming:
            found[id(event)] = coming[event.loops]
    return found
