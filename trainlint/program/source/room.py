"""Room for the frames of functions that call each other deeply.

CPython (3.11 and later) keeps frames in pieces of 16 KB, and gives a piece back to the system as soon as nothing is
in it: a recursion that goes back and forth over the edge of one maps memory and frees it, each time. A frame that is
larger than that gets a piece of its own size or up to twice that, and what it calls goes on in the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

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
