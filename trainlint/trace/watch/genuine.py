"""Functions of torch's that the program has put its own in the place of."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

import torch

from trainlint.trace.launch.frames import HANDS_OVER

_TORCH = os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), "")


def genuine(function: Callable[..., Any], caller: FrameType | None) -> Callable[..., Any]:
    """The function that a mode has to call: torch looks it up by its name, which may be that of the program's own.

    That one is running already, and has called torch's. To call it again would do its work twice.

    Args:
        caller: the frame that called the mode.
    """
    if not _is_own(function) or caller is None or caller.f_code.co_name != HANDS_OVER:
        return function
    outer = caller.f_back
    if outer is None or not outer.f_code.co_filename.startswith(_TORCH) or outer.f_code.co_freevars:
        return function
    return FunctionType(outer.f_code, outer.f_globals)


def _is_own(function: Any) -> bool:
    """Whether a function was written in Python, and not by torch."""
    code = getattr(function, "__code__", None)
    if code is None:
        kind = type(function)
        return kind.__module__ not in ("builtins", "functools") and not kind.__module__.startswith("torch")
    return not code.co_filename.startswith(_TORCH)
