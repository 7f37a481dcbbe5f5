"""Conditions that ask how many axes tensors have: what stands under them is for some shapes only."""

from __future__ import annotations

from typing import Any

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Asserted, Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Guards, Op, Value, compatible

from .made import made


def asked_of(event: Event) -> Guards:
    """The conditions of an event that ask for axes, or for the size of one that is not the first."""
    return tuple(guard for guard in event.guards if _asks(guard[0]))


def can_show(loss: LossCall, compared: Operation) -> bool:
    """Whether the shapes in a loss are those in a comparison: one does not exclude the other, and both ask alike for
    axes."""
    return compatible(loss.guards, compared.guards) and set(asked_of(loss)) == set(asked_of(compared))


def _asks(condition: Any) -> bool:
    match condition:
        case ("getitem", ("shape" | "size", _), "0") | ("size", _, ("constant", "0")):
            return False
        case ("shape" | "size" | "dim" | "ndim", *_):
            return True
        case tuple():
            return any(map(_asks, condition))
    return False


def asserted_alike(training: Training, event: Event, first: Value, second: Value) -> bool:
    """Whether the program has made sure that two tensors have the same shape, or has raised."""
    wanted = {made(first).of.uid, made(second).of.uid}
    return any(
        one.calls == event.calls and _shapes_compared(one.test) == wanted for one in training.events(Asserted)
    )


def _shapes_compared(test: Value) -> set[int]:
    """What the tensors are made of whose shapes a test compares."""
    match test:
        case Op(
            name="==",
            inputs=(Op(name="shape" | "size", inputs=(one,)), Op(name="shape" | "size", inputs=(other,))),
        ):
            return {made(one).of.uid, made(other).of.uid}
    return set()
