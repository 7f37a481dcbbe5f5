"""Plain numbers of Python's: which are whole, and which hide what a tensor is made of."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.api.gradients import REBUILDS
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.flow import made_of
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Carried, Choice, Constant, Op, Unknown, Value
from trainlint.facts.seen.blind_spots import MadeOfNumbers, Numbered
from trainlint.finding import Open, Place

_SIZES = frozenset("len builtins.len numel int_number dim ndim".split())


@question(start=True, unknown=False)
def is_whole(value: Value) -> bool:
    """Whether a value certainly is a whole number of Python's: a size, a count, the number of an iteration."""
    match value:
        case Constant():
            return isinstance(value.value, int)
        case Unknown():
            return value.annotation == "int"
        case Op(name="iterate", inputs=(Op(name="range"),)):
            return True
        case Op(name="+" | "-" | "*" | "//" | "%" | "**" | "tolist"):
            return all(map(is_whole, value.inputs))
        case Op():
            return value.name in _SIZES
        case Choice() | Carried():
            return all(map(is_whole, value.parts()))
    return False


def perhaps_of_outputs(training: Training) -> Iterator[Open]:
    """New tensors in the losses of a run that turned tensors with gradients into plain numbers: whether the ones are
    made of the others is not shown. A loss that is made of numbers itself may hide any tensor that was made so."""
    if not training.facts(Numbered):
        return
    behind = {one: None for event in training.events(Backward) for one in _rebuilt(event.loss)}
    if any(made_of_numbers(training, event.loss) for event in training.events(Backward)):
        behind |= {one.at: None for one in training.facts(MadeOfNumbers)}
    for at in behind:
        yield Open(at, "which numbers this tensor is made of")


def made_of_numbers(training: Training, loss: Value) -> bool:
    """Whether a run has made a loss of plain numbers, after a tensor with a gradient had become such numbers."""
    places = {one.at for one in training.facts(MadeOfNumbers)}
    return any(at in places for at in _rebuilt(loss))


def _rebuilt(loss: Value) -> Iterator[Place]:
    return (
        one.at for one in made_of(loss) if isinstance(one, Op) and one.name in REBUILDS and one.at is not None
    )
