"""The log of events, thinned where a run repeats itself: by whole iterations, so that the order of what is left is true."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.modules import (
    Built,
    Converted,
    ModeChange,
    ModuleChanged,
    Moved,
    StateLoaded,
)
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import OptimizerStep

_MOST_ALIKE = 8
"""Events of one kind, at one place and about one thing, that are kept of one iteration: the first and the latest."""

_MOST_ITERATIONS = 8
"""Iterations that are kept where all that happens in them happens in others too: the first and the latest."""


_STILL_HOLDS = (Built, Converted, ModeChange, ModuleChanged, Moved, RequiresGrad, StateLoaded)
"""What changes the objects that later steps work with."""


class Log:
    """Events in their order. An iteration ends with an optimizer's step."""

    def __init__(self) -> None:
        self.events: list[Event | None] = []
        """With None in the place of those that were dropped."""
        self._counts: Counter[Any] = Counter()
        self._alike: dict[Any, list[int]] = {}
        """Of the present iteration: where the events of each kind stand."""
        self._first = 0
        self._middle: list[dict[Any, list[int]]] = []
        """Iterations neither among the first nor the latest that held something rare when they were looked at last."""
        self._latest: deque[dict[Any, list[int]]] = deque()

    def add(self, key: Any, event: Event) -> None:
        """Something happened; of events with one key, all are alike."""
        alike = self._alike.setdefault(key, [])
        alike.append(len(self.events))
        self.events.append(event)
        self._counts[key] += 1
        if len(alike) > _MOST_ALIKE:
            self.events[alike.pop(_MOST_ALIKE // 2)] = None
        if isinstance(event, OptimizerStep):
            self._end_iteration()

    def forget(self) -> None:
        """Start again: what has happened so far is no part of what is recorded, except what still holds."""
        kept = [event for event in self.events if isinstance(event, _STILL_HOLDS)]
        self.__init__()  # type: ignore[misc]
        self.events.extend(kept)

    def _end_iteration(self) -> None:
        ended, self._alike = self._alike, {}
        if self._first < _MOST_ITERATIONS // 2:
            self._first += 1
            return
        self._latest.append(ended)
        if len(self._latest) > _MOST_ITERATIONS // 2:
            self._middle.append(self._latest.popleft())
            self._middle = [one for one in self._middle if not self._dropped(one)]

    def _dropped(self, iteration: dict[Any, list[int]]) -> bool:
        """Drop an iteration, unless something in it is rare."""
        if any(self._counts[key] <= _MOST_ALIKE for key in iteration):
            return False
        for places in iteration.values():
            for place in places:
                self.events[place] = None
        return True
