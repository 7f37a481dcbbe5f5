"""Attributes that are replaced for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Replacements:
    """Attributes that are replaced, and what they were."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any, bool, Any]] = []

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Put something in the place of an attribute, made from what is there now."""
        original = getattr(owner, name, None)
        if original is None:
            return
        own = name in vars(owner)
        kept = vars(owner)[name] if own else original
        wrapper = make(original)
        setattr(owner, name, wrapper)
        self._replaced.append((owner, name, kept, own, wrapper))

    def undo(self) -> None:
        """Put everything back that is still as it was replaced."""
        for owner, name, kept, own, wrapper in reversed(self._replaced):
            if vars(owner).get(name) is not wrapper:
                continue
            if own:
                setattr(owner, name, kept)
            else:
                delattr(owner, name)
        self._replaced.clear()
