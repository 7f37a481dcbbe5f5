"""The losses of a run, step by step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Op
from trainlint.finding import Place


@dataclass(frozen=True)
class LossLine:
    """A loss over the recorded steps.

    Args:
        name: what the program calls it.
        at: where it is computed.
        values: pairs of a step and the loss in it; a step of several micro-batches has several.
        guess: what guessing gives: the logarithm of the number of classes.
        by: how that comes about, such as `log 10`.
        ignored: share of the targets that do not count.
    """

    name: str
    at: Place
    values: tuple[tuple[int, float], ...]
    guess: float | None = None
    by: str = ""
    ignored: float | None = None

    @property
    def last(self) -> float:
        return self.values[-1][1]


def loss_lines(run: Recorded) -> list[LossLine]:
    """Every loss that the program computes, and every other value that gradients are computed for."""
    lines: dict[tuple[str, Place], list[tuple[int, Op]]] = {}
    shown: set[int] = set()
    for step, event in _by_step(run.events(Event)):
        value = (
            event.output
            if isinstance(event, LossCall)
            else event.loss
            if isinstance(event, Backward)
            else None
        )
        if not isinstance(value, Op) or value.seen is None or "value" not in value.seen.numbers:
            continue
        if isinstance(event, LossCall) and event.function == "log_softmax":
            continue
        if isinstance(event, Backward) and value.uid in shown:
            continue
        shown.add(value.uid)
        name = event.name if isinstance(event, LossCall) else "backward()"
        lines.setdefault((name, event.at), []).append((step, value))
    return [_line(name, at, held) for (name, at), held in lines.items()]


def _by_step(events: Iterable[Event]) -> Iterator[tuple[int, Event]]:
    """Every event with the number of the step that it belongs to: they end as the optimizer that stepped first steps."""
    step, first = 1, None
    for event in events:
        yield step, event
        if isinstance(event, OptimizerStep):
            first = first or event.optimizer
            step += event.optimizer is first


def _line(name: str, at: Place, held: list[tuple[int, Op]]) -> LossLine:
    numbers = held[-1][1].seen.numbers if held[-1][1].seen is not None else {}
    classes = numbers.get("classes")
    guess = math.log(classes) if classes and classes > 1 else None
    values = tuple((step, one.seen.numbers["value"]) for step, one in held if one.seen is not None)
    return LossLine(name, at, values, guess, f"log {classes:.0f}" if classes else "", numbers.get("ignored"))
