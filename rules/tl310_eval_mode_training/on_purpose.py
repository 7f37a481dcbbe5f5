"""Steps in evaluation mode that a program means."""

from __future__ import annotations

from trainlint.facts.ask.flow import all_that_makes, is_among
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import compatible


def is_other_split(training: Training, switched: ModeChange, forward: Forward) -> bool:
    """Whether `eval()` is called where no step follows, and `train()` where one does: `if split == "train"` twice."""
    steps = [one for one in training.events(Backward) if _is_step_on(one, forward)]
    trains = [
        set(one.guards)
        for one in training.events(ModeChange)
        if one.training is True and one.loops == switched.loops and one.calls == switched.calls
    ]
    return bool(steps) and all(
        not compatible(switched.guards, step.guards) and any(one <= set(step.guards) for one in trains)
        for step in steps
    )


def _is_step_on(backward: Backward, forward: Forward) -> bool:
    """Whether a backward pass is in the loop of a forward, or comes after that loop and is for what it has made."""
    if len(backward.loops) >= len(forward.loops):
        return backward.loops[: len(forward.loops)] == forward.loops
    return is_among(forward.output, all_that_makes([backward.loss], with_graph=True))


def is_around_it(training: Training, switched: ModeChange, forward: Forward) -> bool:
    """Whether a function switches to evaluation for one call alone, such as to choose an action, and straight back."""
    switches = [one for one in training.events(ModeChange) if one.module is switched.module]
    back = next((one for one in switches if training.is_after(one, switched)), None)
    if back is None or back.training is False or forward.loops != switched.loops:
        return False
    return (back.calls, back.loops, back.guards) == (switched.calls, switched.loops, switched.guards)


def is_meant(training: Training, switched: ModeChange, forward: Forward) -> bool:
    """Whether `eval()` is called right before the step, in the same function and loop: then it is on purpose."""
    order = [event for event in training.events(Event) if event is switched or event is forward]
    return training.is_own_choice(switched, forward) and order[0] is switched
