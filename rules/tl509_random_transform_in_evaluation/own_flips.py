"""Pictures that the program's own code flips at random: `if random.random() < 0.5: picture = hflip(picture)`."""

from __future__ import annotations

import math
from typing import Any

from trainlint.facts.ask.asking import question
from trainlint.facts.model.events.batches import Batched
from trainlint.facts.model.exclusive import DRAWN
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Guards, Items, Named, Object, Op, Table, Value

_FLIPS = frozenset(
    "flip fliplr flipud hflip vflip horizontal_flip vertical_flip flip_left_right flip_top_bottom".split()
)
_SAME = frozenset("copy call numpy.ascontiguousarray contiguous".split())
"""What a flipped picture may go through in the same breath: `np.fliplr(picture).copy()`."""


def flipped_at_random(training: Training, loader: Object) -> Op | None:
    """What flips some of the samples of a loader, where only a random number decides."""
    batches = [one.batch for one in training.events(Batched) if one.loader is loader]
    found = [_flip_in(one) for one in batches]
    return found[0] if found and None not in found else None


@question(start=None, unknown=None)
def _flip_in(value: Value) -> Op | None:
    match value:
        case Choice():
            by_chance = [one for guards, one in value.options if _is_left_to_chance(guards)]
            chosen = next((found for one in by_chance if (found := _flip(one) or _flip_in(one))), None)
            if chosen is not None:
                return chosen
            every = [_flip_in(one) for _, one in value.options]
            return every[0] if None not in every else None
        case Op() | Items() | Table():
            return next((found for one in value.parts() if (found := _flip_in(one)) is not None), None)
    return None


def _flip(value: Value) -> Op | None:
    while isinstance(value, Op):
        if value.name.rpartition(".")[2] in _FLIPS or _is_method(value):
            return value
        if value.name not in _SAME or not value.inputs:
            return None
        value = value.inputs[0]
    return None


def _is_method(call: Op) -> bool:
    """Whether something unknown is told to flip: `picture.flip(-1)`, `picture.transpose(Image.FLIP_LEFT_RIGHT)`."""
    name = call.text.removesuffix("(…)").rpartition(".")[2] if call.name in ("call", "transpose") else ""
    told = [one.name for one in call.inputs if isinstance(one, Named)]
    return name in _FLIPS or (name == "transpose" and any("FLIP_" in one for one in told))


def _is_left_to_chance(guards: Guards) -> bool:
    """Whether nothing but random numbers decides, and they leave it open."""
    chances = [_chance(condition, outcome) for condition, outcome in guards]
    return any(0 < one < 1 for one in chances) and all(one > 0 for one in chances)


def _chance(condition: Any, outcome: bool) -> float:
    """How likely an outcome of a condition on a random number between 0 and 1 is; 0 for any other condition."""
    match condition:
        case (">" | ">=", (kind, *_), ("constant", str(text))) if kind == DRAWN:
            likely = 1 - _number(text)
        case (">" | ">=", ("constant", str(text)), (kind, *_)) if kind == DRAWN:
            likely = _number(text)
        case _:
            return 0
    return likely if outcome else 1 - likely


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
