"""Loops that always train on the first few batches of a loader, as tests do that learn a few samples by heart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainlint.facts.ask.guards import INDEX
from trainlint.facts.model.events.batches import Begun, Drawn
from trainlint.facts.model.nodes import Branch, Exit, Loop, Node
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, constant


def are_the_first(training: Training, drawn: Drawn) -> bool:
    """Whether a loop draws so many batches as a number in the program says, and begins with the first one each time."""
    loop = training.loops.get(drawn.loops[-1]) if drawn.loops else None
    if loop is None:
        return False
    return _is_left_early(loop) or _is_begun_anew(training, drawn, loop)


def _is_begun_anew(training: Training, drawn: Drawn, loop: Loop) -> bool:
    """Whether `next` draws in a loop over a fixed range, of an iterator that the loop around it begins anew."""
    over = loop.over
    is_fixed = isinstance(over, Op) and over.name == "range" and len(over.inputs) == 1
    if not (is_fixed and isinstance(over, Op) and isinstance(constant(over.inputs[0]), int)):
        return False
    begun = [one for one in training.events(Begun) if one.loader is drawn.loader]
    return bool(drawn.loops[:-1]) and bool(begun) and all(one.loops == drawn.loops[:-1] for one in begun)


def _is_left_early(loop: Loop) -> bool:
    """Whether a loop ends with `if i == 25: break`, with a number that `enumerate` counts."""
    return any(
        _compares_index(branch.key) and any(isinstance(one, Exit) and one.kind == "break" for one in taken)
        for branch in _branches(loop.body)
        for taken in (branch.then, branch.otherwise)
    )


def _branches(nodes: list[Node]) -> Iterator[Branch]:
    return (one for one in nodes if isinstance(one, Branch))


def _compares_index(key: Any) -> bool:
    match key:
        case ("==" | ">=" | ">" | "<" | "<=", (kind, *_), ("constant", str(number))):
            return kind == INDEX and number.isdigit()
        case ("==" | ">=" | ">" | "<" | "<=", ("+", (kind, *_), ("constant", _)), ("constant", str(number))):
            return kind == INDEX and number.isdigit()
    return False
