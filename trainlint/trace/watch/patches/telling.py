"""Functions that do what others do, and tell the recorder of it where it listens.

What is told is handed the recorder, then the result if there is one, then what the function was given. The frame
that has called the function is two above it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

Tell = Callable[..., None]
Wrap = Callable[[Any], Any]


def before(recorder: Recorder, tell: Tell) -> Wrap:
    """Tell of each call before it is made."""

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if recorder.listens:
                with recorder.careful:
                    tell(recorder, *args, **kwargs)
            return original(*args, **kwargs)

        return call

    return wrap


def after(recorder: Recorder, tell: Tell) -> Wrap:
    """Tell of each call that has returned."""

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if recorder.listens:
                with recorder.careful:
                    tell(recorder, result, *args, **kwargs)
            return result

        return call

    return wrap


def after_outermost(recorder: Recorder, tell: Tell) -> Wrap:
    """Tell of each call that has returned and that was not made by another: of a function that goes down a tree."""

    def wrap(original: Any) -> Any:
        depth = 0

        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            if not recorder.listens:
                return original(*args, **kwargs)
            depth += 1
            try:
                result = original(*args, **kwargs)
            finally:
                depth -= 1
            if depth == 0 and recorder.listens:
                with recorder.careful:
                    tell(recorder, result, *args, **kwargs)
            return result

        return call

    return wrap
