"""Arithmetic of a tensor that was made on the CPU and one that was moved elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.placement import device_of, has_default_device
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Op, Value
from trainlint.finding import Place

_MIXES = frozenset("+ - * / @ add sub mul div matmul bmm mm".split())
_FILLED = frozenset("zeros ones rand randn randint full empty arange linspace eye randperm".split())
_SAME_ELEMENTS = frozenset(
    "view reshape flatten unsqueeze float long sqrt log exp pow clamp abs expand repeat".split()
)
"""Operations that leave a tensor with axes, and where it is."""

_MOST_STEPS = 20


class Mixed(NamedTuple):
    """Where two tensors meet, the one of them that is on the CPU, and the kind of device on which the other one is."""

    at: Place
    made: Op
    home: str


def mixed(training: Training) -> Iterator[Mixed]:
    """What reaches a model or a loss of two tensors on different devices. Of a single number, torch takes it from the CPU."""
    if has_default_device(training):
        return
    begin = [value for one in training.events(Forward) for value in one.inputs]
    begin += [one.loss for one in training.events(Backward)]
    begin += [one.output for one in training.events(LossCall)]
    for op in reached(begin):
        if not isinstance(op, Op) or op.name not in _MIXES or op.at is None or len(op.inputs) != 2:
            continue
        for one, other in (op.inputs, op.inputs[::-1]):
            made = _made_on_cpu(one)
            home = device_of(other) if made is not None else ""
            if made is not None and home not in ("", "cpu", "meta"):
                yield Mixed(op.at, made, home)


def _made_on_cpu(value: Value) -> Op | None:
    """Where a tensor that has axes is made, and nothing says on which device."""
    for _ in range(_MOST_STEPS):
        if not isinstance(value, Op) or value.written or not value.inputs:
            return None
        if value.name in _FILLED:
            size = value.inputs[0]
            is_number = isinstance(size, Items) and not size.items
            return None if is_number or value.is_open or "device" in value.options else value
        numbers = [one for one in value.inputs if isinstance(one, Constant)]
        if value.name in _SAME_ELEMENTS:
            value = value.inputs[0]
        elif value.name in _MIXES and len(numbers) == 1 and len(value.inputs) == 2:
            value = next(one for one in value.inputs if one is not numbers[0])
        else:
            return None
    return None
