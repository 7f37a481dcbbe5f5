"""Conditions that hold in every n-th iteration, among them counters that the program sets back by hand."""

from __future__ import annotations

from typing import Any

from trainlint.facts.ask.guards import counting
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.losses import Accumulated
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Carried, Choice, Guards, Op, Unknown, Value, alternatives, constant


def every_so_often(training: Training, event: Event) -> Guards:
    """The conditions of an event that hold in every n-th iteration."""
    found = counting(event.guards)
    if found or not event.loops:
        return found
    counters = [
        one.result for one in training.inside(event.loops[-1], Accumulated) if one.loops == event.loops
    ]
    return tuple(
        guard for guard in event.guards if any(_is_reached_again_and_again(guard, one) for one in counters)
    )


def _is_reached_again_and_again(guard: tuple[Any, bool], counter: Value) -> bool:
    """`count == n`, `count >= n` or not `count < n`, where it was 0 before the loop, and is set to 0 where it is reached; or
    `self.count == n`, which other methods may set back: also where the end of the data is enough."""
    condition, holds = guard
    is_either = holds and isinstance(condition, tuple) and condition[:1] == ("or",)
    return any(_reaches(one, guard, counter) for one in (condition[1:] if is_either else (condition,)))


def _reaches(condition: Any, guard: tuple[Any, bool], counter: Value) -> bool:
    match condition, counter:
        case (
            (("==" | ">=" | "<" | "!=") as asks, ("+", ("value", number), ("constant", "1")), count),
            Op(name="+", inputs=(Carried(back=Value() as back) as before, _)),
        ) if before.uid == number and bool(count != ("constant", "1")) and guard[1] is (asks in ("==", ">=")):
            starts = all(one is counter or constant(one) == 0 for one in alternatives(before.start))
            return starts and _is_set_back(back, counter, guard)
        case (
            ("==", ("+", ("value", number), ("constant", "1")), count),
            Op(name="+", inputs=(Unknown() as before, _)),
        ):
            return before.uid == number and bool(count != ("constant", "1")) and guard[1]
    return False


def _is_set_back(back: Value, counter: Value, guard: tuple[Any, bool]) -> bool:
    if not isinstance(back, Choice):
        return bool(constant(back) == 0)  # `continue` left it as it was
    again = [guards for guards, one in back.options if one is not counter and constant(one) == 0]
    return len(back.options) == 2 and len(again) == 1 and guard in again[0]
