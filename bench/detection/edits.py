"""Scripted changes of a program's text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Edit:
    """Replaces a text that a file holds exactly once."""

    file: str
    old: str
    new: str

    def apply(self, folder: Path) -> None:
        path = folder / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} holds {text.count(self.old)} times, not once: {self.old!r}")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")
