"""Files that imports would mean if they were there: once one appears, what follows from the rest is out of date."""

from __future__ import annotations

import os
from collections.abc import Iterable

Absent = tuple[str, tuple[str, ...]]
"""A folder, and names that were looked for in it in vain."""


def still_absent(looked_for: Iterable[Absent]) -> bool:
    """Whether none of these has appeared."""
    return all(names_in(folder).isdisjoint(names) for folder, names in looked_for)


def names_in(folder: str) -> frozenset[str]:
    """What a folder holds; nothing if it cannot be listed."""
    try:
        return frozenset(os.listdir(folder or "."))
    except OSError:
        return frozenset()
