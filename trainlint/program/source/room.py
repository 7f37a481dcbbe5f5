"""Room for the frames of functions that call each other deeply, and for much that is made and stays.

CPython (3.11 and later) keeps frames in pieces of 16 KB, and gives a piece back to the system as soon as nothing is
in it: a recursion that goes back and forth over the edge of one maps memory and frees it, each time. A frame that is
larger than that gets a piece of its own size or up to twice that, and what it calls goes on in the rest.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from trainlint import limits

_SLOTS = 70_000
"""Values that the frame claims: 560 KB, of a piece of 1 MB. None of it is touched."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


def with_room(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The same function; what it calls has 450 KB for its frames."""

    def call(*given: Given.args, **options: Given.kwargs) -> Result:
        return function(*given, **options)

    call.__code__ = call.__code__.replace(co_stacksize=_SLOTS)
    return wraps(function)(call)


@contextmanager
def deep() -> Iterator[None]:
    """Let Python nest more frames than usual: nested code, and sums of many terms, are trees that nest deeply."""
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(max(depth, limits.FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(depth)


@contextmanager
def uncollected() -> Iterator[None]:
    """Let no garbage be looked for while much is made that stays: in a parse, that costs a fifth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
