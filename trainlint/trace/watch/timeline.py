"""When things happen: waiting for data, calls of modules, backward passes and steps of optimizers."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.seen.timeline import Span
from trainlint.trace.watch.graph import tensors

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_MOST = 4_000
"""Spans that are kept of each kind."""
_MOST_OF_MODULES = 12_000
"""Calls of modules inside others that are kept."""


class Timeline:
    """Spans since the recording began."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._began = time.perf_counter()
        self._spans: list[Span] = []
        self._counts: dict[str, int] = {}
        self._reached: list[tuple[str, float]] = []
        """For the present backward pass: the modules whose outputs got a gradient, and when."""
        self._inside = 0
        self._open: dict[str, float] = {}

    @property
    def now(self) -> float:
        return time.perf_counter() - self._began

    def waited(self, loader: str, seconds: float) -> None:
        """A batch has come after so long."""
        now = self.now
        self._add("data", loader, now - seconds, now)

    def called(self, path: str, began: float, ended: float, depth: int) -> None:
        """A module was running between two readings of `now`."""
        self._add("forward", path, began, ended, depth)

    @property
    def has_room(self) -> bool:
        """Whether calls of modules inside others are still kept."""
        return self._counts.get("forward of modules", 0) < _MOST_OF_MODULES

    def gave(self, path: str, module: torch.nn.Module, result: Any) -> None:
        """A module that holds no others has given a result: the gradient of its first tensor will come by."""
        if self._inside >= _MOST_OF_MODULES or module._modules:
            return
        outputs = tensors(result)
        node = outputs[0].grad_fn if outputs else None
        if node is None:
            return
        self._inside += 1
        node.register_prehook(functools.partial(self._gradient_came, path))

    def begin(self, kind: str) -> None:
        self._open[kind] = self.now
        if kind == "backward":
            self._reached = []

    def end(self, kind: str, name: str = "") -> None:
        began, now = self._open.pop(kind, None), self.now
        if began is None:
            return
        self._add(kind, name, began, now)
        if kind == "backward":
            ends = [*(when for _, when in self._reached[1:]), now]
            for (path, when), after in zip(self._reached, ends, strict=False):
                self._add(kind, path, when, after, 1)
            self._reached = []

    def seen(self) -> list[Span]:
        return self._spans

    def _gradient_came(self, path: str, _: Any) -> None:
        if "backward" in self._open:
            self._reached.append((path, self.now))

    def _add(self, kind: str, name: str, begin: float, end: float, depth: int = 0) -> None:
        key = kind if depth == 0 else f"{kind} of modules"
        kept = self._counts.get(key, 0)
        if kept < (_MOST if depth == 0 else _MOST_OF_MODULES):
            self._counts[key] = kept + 1
            step = self._recorder.steps.done + 1
            self._spans.append(Span(kind, name, round(begin, 7), round(end, 7), step, depth))
