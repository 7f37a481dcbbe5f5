"""A stack as it would be if nobody watched: without the recorder's frames and what they bring along."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
HANDS_OVER = "handle_torch_function"
"""The function of torch's with which its Python functions call a mode, which then calls them again."""


def is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_FOLDER)


def unwatched(stack: Iterable[T], frame_of: Callable[[T], FrameType]) -> list[T]:
    """What is left of a stack, outermost first."""
    kept: list[T] = []
    for one in stack:
        if not is_ours(frame_of(one)):
            kept.append(one)
        elif len(kept) > 1 and frame_of(kept[-1]).f_code.co_name == HANDS_OVER:
            del kept[-2:]
    return kept
