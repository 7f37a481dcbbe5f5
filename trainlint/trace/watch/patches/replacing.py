"""Attributes that are replaced for a while."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any


def replace(undo: ExitStack, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Put something in the place of an attribute, made from what is there now, until `undo` is closed."""
    original = getattr(owner, name, None)
    if original is None:
        return
    is_own = name in vars(owner)
    kept = vars(owner)[name] if is_own else original
    replacement = make(original)
    setattr(owner, name, replacement)

    def put_back() -> None:
        if vars(owner).get(name) is not replacement:
            return  # somebody else has replaced it since
        if is_own:
            setattr(owner, name, kept)
        else:
            delattr(owner, name)

    undo.callback(put_back)
