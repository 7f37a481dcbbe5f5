"""Conditions that ask how many axes tensors have: what stands under them is for some shapes only."""

from __future__ import annotations

from trainlint.facts.ask.guards import of_axes
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Asserted, Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, compatible

from .made import made


def can_show(loss: LossCall, compared: Operation) -> bool:
    """Whether the shapes in a loss are those in a comparison: one does not exclude the other, and both ask alike for
    axes."""
    return compatible(loss.guards, compared.guards) and set(of_axes(loss.guards)) == set(
        of_axes(compared.guards)
    )


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
