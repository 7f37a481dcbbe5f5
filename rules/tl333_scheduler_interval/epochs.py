"""Schedules whose length is a number of epochs, and that a framework moves on every batch."""

from __future__ import annotations

import re

from trainlint.facts.ask.schedules import Schedule
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Constant, Items, Object, Op, Unknown, Value, constant

_LENGTHS = {
    "CosineAnnealingLR": (1, "T_max"),
    "CosineAnnealingWarmRestarts": (1, "T_0"),
    "LinearLR": (3, "total_iters"),
    "PolynomialLR": (1, "total_iters"),
    "OneCycleLR": (2, "total_steps"),
    "StepLR": (1, "step_size"),
}
"""The argument that says how long a schedule, or a part of it, is."""

_FALLS = {"StepLR": (1, "step_size"), "MultiStepLR": (1, "milestones")}
"""What divides the rate where a number is reached."""
_OF_BATCHES = 100
"""What is divided by this batch already, is divided in the first of all epochs."""
_NAMED = re.compile(r"^(?:(?:max|num|n|total|train|training)_?)*epochs?$", re.IGNORECASE)
_SAME = frozenset("int_number int builtins.int float_number round + - //".split())
"""What leaves a number of epochs one, give or take some of them."""


def counts_epochs(schedule: Schedule) -> str:
    """Why a schedule that is moved on every batch certainly counts epochs; empty where that is open."""
    scheduler = schedule.scheduler
    if not isinstance(scheduler, Object) or scheduler.is_open or schedule.interval != "step":
        return ""
    if schedule.frequency is not None and constant(schedule.frequency) != 1:
        return ""
    kind = scheduler.type.rpartition(".")[2]
    place = _LENGTHS.get(kind)
    length = scheduler.argument(*place) if place is not None else None
    if place is not None and length is not None and _is_of_epochs(length):
        return f"`{place[1]}` is a number of epochs"
    fall = scheduler.argument(*_FALLS[kind]) if kind in _FALLS else None
    numbers = [number_of(one) for one in (fall.items if isinstance(fall, Items) else [fall])]
    if numbers and all(one is not None and 1 <= one <= _OF_BATCHES for one in numbers):
        return f"`{_FALLS[kind][1]}` looks like a number of epochs"
    return ""


def _is_of_epochs(value: Value) -> bool:
    """`self.trainer.max_epochs`, `hparams["epochs"]`, `epochs - 5`."""
    while isinstance(value, Op) and value.name in _SAME and value.inputs:
        if not all(isinstance(one, Constant) for one in value.inputs[1:]):
            return False
        value = value.inputs[0]
    match value:
        case Op(name="getattr", options={"name": Constant(value=str(name))}):
            return _NAMED.match(name) is not None
        case Op(name="getitem", options={"index": Constant(value=str(name))}):
            return _NAMED.match(name) is not None
        case Unknown(text=text):
            return _NAMED.match(text.rpartition(".")[2]) is not None
    return False
