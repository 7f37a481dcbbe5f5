"""A file that cannot be read, and why."""

from __future__ import annotations


class Unreadable(Exception):
    """A file that is not Python as libcst knows it; `line` is where reading stopped."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line
