"""Room for trees: for those that nest deeply, as a sum of many terms does, and for those of many nodes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_FRAMES = 8_000


@contextmanager
def deep() -> Iterator[None]:
    """Let Python nest more frames than usual."""
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(max(depth, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(depth)


@contextmanager
def uncollected() -> Iterator[None]:
    """Let no garbage be looked for while much is made that stays."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
