"""Which mode a module is in when it is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.guards import depends_on_mode
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.ask.modes import is_inside
from trainlint.facts.model.events.calls import CalledBack
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives, compatible
from trainlint.finding import Place

_State = Literal["on", "off", "asked", "open"]


def stays_in_training(training: Training, forward: Forward, module: Object, holder: Object) -> bool:
    """Whether a part of a module certainly is in training mode at one of its forwards, and not because that is asked for there.

    Where `train()` stands right before it, with no recorded forward in between on any path, it is on purpose: to drop
    at random in evaluation, or to gather the statistics of batch norm anew.
    """
    if forward.mode is False or (forward.mode is None and _is_set_by_hand(module)):
        return False
    if _is_switched_off_before(training, forward, holder):
        return False
    is_handed_on = forward.mode is None and _is_handed_on(training, module)
    kinds = (ModeChange, Forward, Escape) if is_handed_on else (ModeChange, Forward)
    runs = training.runs(*kinds) or [training.events(Forward)]
    found: set[_State] = set()
    for run in runs:
        found.update(_states(run, forward, module, holder))
    return "on" in found and "off" not in found


def _is_switched_off_before(training: Training, forward: Forward, holder: Object) -> bool:
    """Whether the last switch in the function that calls a module, on the way to that call or in it, puts it into evaluation
    mode: of many orders of events, those that have the switch may not have been tried."""
    before = [
        one
        for one in training.events(ModeChange)
        if (is_inside(one, forward) or (one.calls == forward.calls and training.is_after(forward, one)))
        and compatible(one.guards, forward.guards)
        and _concerns(one, holder) is True
    ]
    return bool(before) and before[-1].training is False


def _states(run: list[Event], forward: Forward, module: Object, holder: Object) -> Iterator[_State]:
    """The states in which one order of events reaches a forward; `asked`: on since a `train()` right before it."""
    state: _State = "on"
    whole: ModeChange | None = None
    before: dict[tuple[Place, ...], _State] = {}
    for event in run:
        if event is forward:
            yield state
        elif isinstance(event, ModeChange) and event.gives_back and _concerns(event, holder) is True:
            # what is switched for a part of a forward alone was off there
            state = "off" if is_inside(event, forward) else before.pop(event.calls, state)
        elif isinstance(event, ModeChange):
            before[event.calls] = state
            whole = event if _concerns(event, module) else whole
            match _concerns(event, holder):
                case True if event.training is True:
                    state = "on" if is_inside(event, forward) else "asked"
                case False if not _chooses_parts(event, module, whole):
                    pass
                case _:
                    state = "off"
        elif isinstance(event, Escape):
            state = "open" if _hands_on(event, module) else state
        elif state == "asked" and _is_call(event, module):
            state = "on"


def _chooses_parts(change: ModeChange, module: Object, whole: ModeChange | None) -> bool:
    """Whether a program puts parts of a model into evaluation mode one by one: it leaves out the others on purpose. Not where
    the whole model was switched in the same function right before, to keep a frozen part from training."""
    is_of_part = change.training is not True and _concerns(change, module) is None
    return is_of_part and (whole is None or whole.calls != change.calls)


def switched_on(training: Training, forward: Forward, module: Object) -> ModeChange | None:
    """The `train()` that the program has called before one of a module's forwards, and that is still in force."""
    for run in training.runs(ModeChange, Forward):
        last: ModeChange | None = None
        for event in run:
            if isinstance(event, ModeChange) and _concerns(event, module):
                last = event
            elif event is forward and last is not None:
                return last if last.training is True else None
    return None


def may_be_switched_later(training: Training, forward: Forward, module: Object) -> bool:
    """Whether a forward is in a function that others call later, and a module may be put into evaluation mode until then."""
    if not any(_is_below(forward, one) for one in training.events(CalledBack)):
        return False
    return any(
        one.training is not True and training.is_after(one, forward) and _concerns(one, module) is not False
        for one in training.events(ModeChange)
    )


def is_given_another(forward: Forward) -> bool:
    """Whether a module is given one that it runs, such as a copy for one task: the mode of that one decides."""
    given = (one for value in forward.inputs for one in alternatives(value))
    return any(
        isinstance(original, Object) and original.is_a(MODULE) for one in given for original in _copied(one)
    )


def _copied(value: Value) -> list[Value]:
    """What a value is a copy of, or the value itself."""
    match value:
        case Op(name="copy", inputs=(original, *_)):
            return list(alternatives(original))
    return [value]


def _is_below(forward: Forward, called: CalledBack) -> bool:
    return forward.calls[: len(called.calls) + 1] == (*called.calls, called.at)


def switched_inside(training: Training, forward: Forward) -> ModeChange | None:
    """Where a module switches itself to training in its own forward, whatever it was in."""
    return next(
        (
            one
            for one in training.events(ModeChange)
            if one.training is True and one.module is forward.module and is_inside(one, forward)
        ),
        None,
    )


def _is_call(event: Event, module: Object) -> bool:
    """Whether a module is called while autograd watches."""
    return isinstance(event, Forward) and event.records is True and event.module is module


def _concerns(change: ModeChange, module: Object) -> bool | None:
    """Whether a change of mode is one of this module's, as a whole; None where it may be, or is of a part of it."""
    found: set[bool | None] = set()
    for one in alternatives(change.module):
        if not isinstance(one, Object):
            found.add(None)
        elif is_part_of(module, one):
            found.add(True)
        else:
            found.add(None if is_part_of(one, module) else False)
    return found.pop() if len(found) == 1 else None


def _is_set_by_hand(module: Object) -> bool:
    """Whether the program assigns to `training`, instead of only reading it."""
    return "training" in module.attributes and not depends_on_mode(module.attributes["training"])


def _is_handed_on(training: Training, module: Object) -> bool:
    """Whether code that is not known is handed a module: it may switch its mode."""
    return any(_hands_on(one, module) for one in training.events(Escape))


def _hands_on(escape: Escape, module: Object) -> bool:
    """Whether unknown code is handed a module, or what it stands for in the function that uses it."""
    return any(
        one is module.stands_for or (isinstance(one, Object) and is_part_of(module, one))
        for value in escape.values
        for one in handed_over(value)
    )
