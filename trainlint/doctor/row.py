"""What is said of one thing."""

from __future__ import annotations

from typing import Literal, NamedTuple

State = Literal["ok", "note", "wrong"]


class Row(NamedTuple):
    """
    Args:
        name: what is looked at.
        said: what it is, in words.
        state: whether that is as it should be, worth knowing, or in the way.
    """

    name: str
    said: str
    state: State = "ok"


Sections = dict[str, list[Row]]
"""Rows below headings, in the order in which they are read."""
