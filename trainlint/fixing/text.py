"""The text of a source file, edited without touching what is around it: encoding, byte order mark, line ends."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trainlint.finding import Edit, Place
from trainlint.project.encodings import encoding_of

if TYPE_CHECKING:
    from trainlint.notebook.cell_edits import EditableNotebook

_LINE = re.compile(r"\r\n|\r|\n")


class Undecodable(Exception):
    """Bytes that are not the text that they say they are, or text that its encoding cannot hold."""


@dataclass(frozen=True)
class Editable:
    """The text ends with a line end, whether or not the file does (`ended`)."""

    text: str
    encoding: str
    ended: bool
    path: str = ""

    @classmethod
    def read(cls, raw: bytes, path: str = "") -> Editable:
        """Raises Undecodable."""
        try:
            encoding = encoding_of(raw)
            text = raw.decode(encoding)
        except (SyntaxError, UnicodeError, LookupError) as error:
            raise Undecodable(str(error)) from error
        ended = text.endswith(("\n", "\r"))
        return cls(text if ended else f"{text}\n", encoding, ended, path)

    @property
    def raw(self) -> bytes:
        """As it is written to disk. Raises Undecodable."""
        text = self.text if self.ended else self.text.removesuffix("\n")
        try:
            return text.encode(self.encoding)
        except UnicodeError as error:
            raise Undecodable(str(error)) from error

    def edited(self, edits: Iterable[Edit]) -> Editable:
        """With edits that do not overlap."""
        starts = [0, *(match.end() for match in _LINE.finditer(self.text))]
        text = self.text
        for edit in sorted(edits, key=lambda one: (one.at, one.replacement), reverse=True):
            at: Place = edit.at
            start = starts[at.line - 1] + at.column - 1
            end = starts[at.end_line - 1] + at.end_column - 1
            text = text[:start] + edit.replacement + text[end:]
        return replace(self, text=text)

    def takes(self, edits: Iterable[Edit]) -> bool:
        """Whether edits can be made."""
        return True

    @property
    def broken(self) -> frozenset[int]:
        """The pieces that this Python does not accept."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(self.text, "<fixed>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return frozenset((1,))
        return frozenset()

    @property
    def parts(self) -> Iterator[tuple[str, list[str]]]:
        """What a diff shows apart: how it is called, and its lines."""
        lines = file_lines(self.text)
        if not self.ended:
            lines[-1] = lines[-1].removesuffix("\n")
        yield self.path, lines


def editable(path: str, raw: bytes) -> Editable | EditableNotebook:
    """What is in a file, to be edited. Raises Undecodable."""
    if not path.endswith(".ipynb"):
        return Editable.read(raw, path)
    from trainlint.notebook.cell_edits import EditableNotebook

    return EditableNotebook(path, raw)


def file_lines(text: str) -> list[str]:
    """Lines as a diff has them, which ends them at newlines alone."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
