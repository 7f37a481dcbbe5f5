"""How findings are laid out for people: how wide, in which order, and how many of the same kind."""

from __future__ import annotations

import shutil
from enum import Enum
from typing import NamedTuple

_PLENTY = 160
"""Columns for source where nothing says how many there are."""


class Order(str, Enum):
    """In which order people read findings."""

    level = "level"
    path = "path"


class Layout(NamedTuple):
    """
    Args:
        columns: lines of words are wrapped there; None where no width is known, as in a file or a pipe.
        order: the worst last, next to the prompt; or by file and line.
        whole: every finding is shown, however many are alike.
    """

    columns: int | None = None
    order: Order = Order.level
    whole: bool = False

    @property
    def room(self) -> int:
        """Cells for a line of source beside its number."""
        return max(20, (self.columns or _PLENTY) - 10)


def columns() -> int | None:
    """What COLUMNS says, or else how wide the terminal is that standard output is."""
    return shutil.get_terminal_size((0, 0)).columns or None
