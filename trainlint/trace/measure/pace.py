"""How fast a run goes from step to step, and how much memory it holds."""

from __future__ import annotations

import ctypes
import sys
import time
from functools import cache
from typing import Any

import torch

from trainlint.facts.seen.pace import Pace
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
    initialised: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return initialised and torch.cuda.max_memory_allocated() > 0


def _held() -> int | None:
    """Bytes that tensors on CUDA hold now, or that the process has allocated where there are none."""
    if _is_on_cuda():
        return torch.cuda.memory_allocated()
    counted = _counter()
    if counted is None:
        return None
    known = counted()
    return int(known.in_maps + known.in_arenas)


class _Allocated(ctypes.Structure):
    """What glibc's `mallinfo2` gives, of which two numbers are in use: in maps of their own, and in arenas."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("arena", "free_chunks", "fast_chunks", "maps")),
        ("in_maps", ctypes.c_size_t),
        *((name, ctypes.c_size_t) for name in ("unused", "fast_bytes")),
        ("in_arenas", ctypes.c_size_t),
        *((name, ctypes.c_size_t) for name in ("free", "top")),
    )


@cache
def _counter() -> Any:
    """glibc's own count: what the system has given to the process says little of what it uses."""
    try:
        found = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError, TypeError):  # no glibc
        return None
    found.restype = _Allocated
    return found


def _peak() -> int | None:
    if _is_on_cuda():
        return torch.cuda.max_memory_allocated()
    if not sys.platform.startswith("linux"):
        return None
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
