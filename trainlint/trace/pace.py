"""How fast a run goes from step to step, and how much memory it holds."""

from __future__ import annotations

import os
import sys
import time

import torch

from trainlint.facts.step import Pace
from trainlint.finding import Place

_MOST = 1_000
"""Readings of memory that are kept."""


class Clock:
    """Looks at the clock after each step of the optimizer that stepped first, and at memory after each backward."""

    def __init__(self) -> None:
        self._of: int | None = None
        self._at: Place | None = None
        self._read: list[float] = []
        self._memory: list[int] = []

    def stepped(self, optimizer: int, at: Place | None) -> None:
        if self._of is None:
            self._of, self._at = optimizer, at
        if self._of == optimizer:
            self._read.append(time.perf_counter())

    def computed_gradients(self) -> None:
        held = _held()
        if held is not None and len(self._memory) < _MOST:
            self._memory.append(held)

    def seen(self) -> list[Pace]:
        if self._at is None:
            return []
        seconds = tuple(later - before for before, later in zip(self._read, self._read[1:], strict=False))
        device = "cuda" if _is_on_cuda() else "cpu"
        return [Pace(self._at, seconds, tuple(self._memory), _peak(), device)]


def _is_on_cuda() -> bool:
    return torch.cuda.is_initialized() and torch.cuda.max_memory_allocated() > 0


def _held() -> int | None:
    """Bytes that tensors on CUDA hold now, or the whole process where there are none."""
    if _is_on_cuda():
        return torch.cuda.memory_allocated()
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):  # no Linux
        return None


def _peak() -> int | None:
    if _is_on_cuda():
        return torch.cuda.max_memory_allocated()
    if not sys.platform.startswith("linux"):
        return None
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
