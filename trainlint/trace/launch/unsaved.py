"""While a program is being ended, its files stay as they are: what it would write over goes nowhere, and is listed."""

from __future__ import annotations

import builtins
import functools
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import Any

_MOVES = (
    (os, "replace"),
    (os, "rename"),
    (shutil, "move"),
    (shutil, "copy"),
    (shutil, "copy2"),
    (shutil, "copyfile"),
)
_SAVES = (
    ("torch", "save", 1),
    ("torch.jit", "save", 1),
    ("safetensors.torch", "save_file", 1),
    ("safetensors.numpy", "save_file", 1),
    ("numpy", "save", 0),
    ("numpy", "savez", 0),
    ("numpy", "savez_compressed", 0),
)
"""Functions that write a file without `open`, and the position of its name."""


class Unsaved:
    """Stands in the place of what writes files, from `begin` until the process ends.

    Args:
        own: a folder that is written to as ever: the recorder's own.
    """

    def __init__(self, own: str) -> None:
        self.paths: list[str] = []
        """What the program would have written, in order."""
        self._own = os.path.join(os.path.realpath(own), "")
        self._pid = os.getpid()
        self._has_begun = False

    def begin(self) -> None:
        if self._has_begun:
            return
        self._has_begun = True
        builtins.open = io.open = self._opening(builtins.open)
        for module, name in _MOVES:
            setattr(module, name, self._moving(getattr(module, name)))
        for library, name, position in _SAVES:
            found = sys.modules.get(library)
            if found is not None and hasattr(found, name):
                setattr(found, name, self._saving(getattr(found, name), position))

    def _opening(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            if ("w" in mode or "x" in mode) and self._is_kept(file):
                self._note(file)
                buffered = {
                    name: one for name, one in kwargs.items() if name in ("encoding", "newline", "errors")
                }
                return tempfile.TemporaryFile(mode.replace("x", "w"), **buffered)
            return original(file, mode, *args, **kwargs)

        return open

    def _saving(self, original: Callable[..., Any], position: int) -> Callable[..., Any]:
        @functools.wraps(original)
        def save(*args: Any, **kwargs: Any) -> Any:
            names = (kwargs.get(name) for name in ("f", "file", "filename"))
            file = (
                args[position]
                if len(args) > position
                else next((one for one in names if one is not None), None)
            )
            if self._is_kept(file):
                self._note(file)
                return None
            return original(*args, **kwargs)

        return save

    def _moving(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What was not written cannot be moved; what was there before stays where it is."""

        @functools.wraps(original)
        def move(source: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
            if self._is_kept(target):
                self._note(target)
                return target
            return original(source, target, *args, **kwargs)

        return move

    def _is_kept(self, file: Any) -> bool:
        """Whether a file is one of the user's, on disk."""
        if not isinstance(file, (str, bytes, os.PathLike)) or os.getpid() != self._pid:
            return False
        path = os.path.realpath(os.fsdecode(file))
        if path.startswith(self._own):
            return False
        return os.path.isfile(path) or not os.path.exists(path)

    def _note(self, file: Any) -> None:
        path = os.fsdecode(file)
        if path not in self.paths:
            self.paths.append(path)
