"""The source that findings point into: what was given on standard input, or what is on disk."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

Lines = Callable[[str], Sequence[str]]
"""The lines of the file with this path."""


class SourceTexts:
    """Source by path, read when asked for; a file that cannot be read is empty."""

    def __init__(self, given: Mapping[str, bytes] | None = None) -> None:
        self.given = given or {}
        self.lines = cache(self._lines)

    def raw(self, path: str) -> bytes:
        if path in self.given:
            return self.given[path]
        try:
            return Path(path).read_bytes()
        except OSError:
            return b""

    def _lines(self, path: str) -> list[str]:
        """Lines as Python counts them, without their ends."""
        raw = self.raw(path)
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        except SyntaxError:
            encoding = "utf-8"
        return re.split("\r\n|\r|\n", raw.decode(encoding, errors="replace"))
