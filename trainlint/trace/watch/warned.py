"""Where a warning would point to if nobody watched."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

from trainlint.trace.launch.frames import unwatched


def moved(message: Any) -> bool:
    """Warn again from the line that a warning would have without the recorder's frames; False where it is there already.

    Args:
        message: the `warnings.WarningMessage` that is about to be shown, from inside the functions that show it.
    """
    stack = _stack()
    level = next(
        (
            level
            for level, frame in enumerate(stack)
            if frame.f_code.co_filename == message.filename and frame.f_lineno == message.lineno
        ),
        None,
    )
    if level is None:
        return False
    real = unwatched(reversed(stack), lambda frame: frame)[::-1]
    if level < len(real) and real[level] is stack[level]:
        return False
    text = str(message.message)
    stack[level].f_globals.get("__warningregistry__", {}).pop((text, message.category, message.lineno), None)
    if level < len(real):
        frame = real[level]
        file, line, known = frame.f_code.co_filename, frame.f_lineno, frame.f_globals
    else:
        file, line, known = "sys", 1, vars(sys)
    warnings.warn_explicit(
        message.message,
        message.category,
        file,
        line,
        known.get("__name__") or "<unknown>",
        known.setdefault("__warningregistry__", {}),
        known,
        message.source,
    )
    return True


def _stack() -> list[FrameType]:
    """The frames that warnings can point to, from the one that warns."""
    frame: FrameType | None = sys._getframe(3)
    found = []
    while frame is not None:
        file = frame.f_code.co_filename
        if not ("importlib" in file and "_bootstrap" in file):
            found.append(frame)
        frame = frame.f_back
    return found
