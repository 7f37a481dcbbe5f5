"""Room for trees that nest deeply, as a sum of many terms does."""

from __future__ import annotations

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
