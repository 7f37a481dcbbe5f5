"""The JSON of a notebook: its cells, where their sources stand in the text, and the text with other sources."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from operator import eq
from typing import Any

_HALF = re.compile("[\ud800-\udfff]")
_BLANK = re.compile(r"[ \t\r\n]*")
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
"""What stands for one character in a JSON string."""
_value_at = json.JSONDecoder().raw_decode
_NOT_PYTHON = re.compile(
    r"ir|julia-?[\d.]*|bash|deno|javascript|typescript|rust|scala|octave|matlab|sas|stata", re.IGNORECASE
)
"""Names of kernels, where nothing says which language they speak."""


class NotANotebook(Exception):
    """What is wrong with a file; `line` is where, if that is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Piece:
    """One of the strings that a source is made of, and where it stands in the text, quotes and all."""

    value: str
    start: int
    end: int


@dataclass(frozen=True)
class Cell:
    """A cell of Python, empty or not."""

    number: int
    """Among all cells of the notebook, from 1."""
    pieces: tuple[Piece, ...]
    start: int
    end: int
    """Where the JSON value stands that holds the source."""

    @cached_property
    def source(self) -> str:
        return "".join(piece.value for piece in self.pieces)


class Document:
    """The text of a notebook file. Raises NotANotebook."""

    def __init__(self, raw: bytes) -> None:
        try:
            self.text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotANotebook(f"is not UTF-8, which notebooks must be: {error.reason}") from error
        self.cells: tuple[Cell, ...] = ()
        if self.text.strip("\ufeff \t\r\n"):
            try:
                self.cells = tuple(_Reader(self.text).cells())
            except json.JSONDecodeError as error:
                raise NotANotebook(f"is not valid JSON: {error.msg}", error.lineno) from error
            except RecursionError as error:
                raise NotANotebook("is nested too deeply to be read") from error

    def position(self, cell: Cell, offset: int) -> tuple[int, int]:
        """Line and column in the file of a character of a cell's source, or of its end."""
        return self._position(self._offset(cell, offset))

    def _position(self, at: int) -> tuple[int, int]:
        return self.text.count("\n", 0, at) + 1, at - self.text.rfind("\n", 0, at)

    def _offset(self, cell: Cell, offset: int) -> int:
        for piece in cell.pieces:
            if offset < len(piece.value) or piece is cell.pieces[-1]:
                at = piece.start + 1
                for _ in range(min(offset, len(piece.value))):
                    match = _CHARACTER.match(self.text, at)
                    assert match is not None
                    at = match.end()
                return at
            offset -= len(piece.value)
        return cell.start

    def with_sources(self, sources: Mapping[int, str]) -> bytes:
        """The file with other sources in the cells of these numbers, and all else as it is."""
        text = self.text
        for cell in reversed(self.cells):
            if cell.number in sources:
                text = text[: cell.start] + self._written(cell, sources[cell.number]) + text[cell.end :]
        return text.encode("utf-8")

    def change(self, number: int, source: str) -> tuple[tuple[int, int], tuple[int, int], str]:
        """What `with_sources` comes to for one cell: from where to where the text is replaced, and by what."""
        cell = next(cell for cell in self.cells if cell.number == number)
        old, new = self.text[cell.start : cell.end], self._written(cell, source)
        first = _alike(old, new)
        last = _alike(reversed(old[first:]), reversed(new[first:]))
        end = self._position(cell.end - last)
        return self._position(cell.start + first), end, new[first : len(new) - last]

    def _written(self, cell: Cell, source: str) -> str:
        """A source in the way in which the cell's own is written: as one string, or as a list of lines."""
        from difflib import SequenceMatcher

        before = self.text[cell.start : cell.end]
        if not before.startswith("["):
            return self._string(source)
        old = [piece.value for piece in cell.pieces]
        new = _cut_like(old, source)
        strings: list[str] = []
        for kind, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind == "equal":
                strings += [self.text[piece.start : piece.end] for piece in cell.pieces[first:last]]
            else:
                strings += map(self._string, new[start:end])
        if not cell.pieces or not strings:
            return f"[{', '.join(strings)}]"
        lead = self.text[cell.start + 1 : cell.pieces[0].start]
        between = f",{lead}" if lead else ", "
        if len(cell.pieces) > 1:
            between = self.text[cell.pieces[0].end : cell.pieces[1].start]
        return f"[{lead}{between.join(strings)}{self.text[cell.pieces[-1].end : cell.end]}"

    def _string(self, value: str) -> str:
        text = json.dumps(value, ensure_ascii=self.text.isascii())
        return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def _alike(one: Iterable[str], other: Iterable[str]) -> int:
    """With how many equal characters two texts begin."""
    return sum(takewhile(bool, map(eq, one, other)))


def _cut_like(old: list[str], source: str) -> list[str]:
    """A source in lines; or in one piece, where the old one was not in lines."""
    whole = "".join(old)
    for lines in (_lines, lambda text: text.splitlines(keepends=True)):
        if lines(whole) == old:
            return lines(source)
    return [source]


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


class _Reader:
    """Goes through the text once. Only sources are looked into; all other values are read at once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 1 if text.startswith("\ufeff") else 0
        self._cells: list[tuple[dict[str, Any], dict[str, tuple[tuple[Piece, ...], int, int]]]] = []
        self._metadata: Any = {}

    def cells(self) -> Iterator[Cell]:
        if self._next() != "{":
            _value_at(self._text, self._at)
            raise NotANotebook("is JSON but not a notebook: it is not an object")
        keys = set()
        for key in self._members():
            keys.add(key)
            if key == "cells":
                self._read_cells()
            elif key == "worksheets":
                for _ in self._items(key):
                    for inner in self._members():
                        if inner == "cells":
                            self._read_cells()
                        else:
                            self._value()
            elif key == "metadata":
                self._metadata = self._value()
            else:
                self._value()
        if self._next():
            raise json.JSONDecodeError("Extra data", self._text, self._at)
        if not keys & {"cells", "worksheets"}:
            raise NotANotebook("is JSON but not a notebook: it has no cells")
        if _speaks_python(self._metadata):
            yield from self._python()

    def _python(self) -> Iterator[Cell]:
        for number, (fields, sources) in enumerate(self._cells, start=1):
            source = sources.get("source") or sources.get("input")
            if source is not None and _is_python(fields):
                pieces, start, end = source
                if not all(isinstance(piece.value, str) for piece in pieces):
                    raise NotANotebook(f"is not a notebook: the source of cell {number} is not text")
                yield Cell(number, pieces, start, end)

    def _read_cells(self) -> None:
        for _ in self._items("cells"):
            fields: dict[str, Any] = {}
            sources = {}
            for key in self._members():
                if key in ("source", "input"):
                    sources[key] = self._source()
                else:
                    fields[key] = self._value()
            self._cells.append((fields, sources))

    def _source(self) -> tuple[tuple[Piece, ...], int, int]:
        if self._next() != "[":
            piece = self._piece()
            return (piece,), piece.start, piece.end
        start = self._at
        pieces = tuple(self._piece() for _ in self._items("source"))
        return pieces, start, self._at

    def _piece(self) -> Piece:
        self._next()
        start = self._at
        return Piece(self._value(), start, self._at)

    def _members(self) -> Iterator[str]:
        """The keys of the object that begins here. After each, its value has to be read."""
        self._expect("{", "is not a notebook: a cell or a worksheet is not an object")
        if self._next() == "}":
            self._at += 1
            return
        while True:
            if self._next() != '"':
                raise json.JSONDecodeError(
                    "Expecting property name enclosed in double quotes", self._text, self._at
                )
            key: str = self._value()
            if self._next() != ":":
                raise json.JSONDecodeError("Expecting ':' delimiter", self._text, self._at)
            self._at += 1
            yield key
            if self._ends("}"):
                return

    def _items(self, name: str) -> Iterator[None]:
        """The items of the list that begins here. After each step, one has to be read."""
        self._expect("[", f"is not a notebook: its `{name}` is not a list")
        if self._next() == "]":
            self._at += 1
            return
        while True:
            yield
            if self._ends("]"):
                return

    def _expect(self, bracket: str, otherwise: str) -> None:
        if self._next() != bracket:
            _value_at(self._text, self._at)
            raise NotANotebook(otherwise, self._text.count("\n", 0, self._at) + 1)
        self._at += 1

    def _ends(self, bracket: str) -> bool:
        """Whether the bracket closes here; else there is a comma."""
        found = self._next()
        if found not in (bracket, ","):
            raise json.JSONDecodeError("Expecting ',' delimiter", self._text, self._at)
        self._at += 1
        return found == bracket

    def _value(self) -> Any:
        self._next()
        found, self._at = _value_at(self._text, self._at)
        return found

    def _next(self) -> str:
        """The next character that is not blank; nothing at the end."""
        match = _BLANK.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return self._text[self._at : self._at + 1]


def _speaks_python(metadata: Any) -> bool:
    """Whether the kernel runs Python, as far as the notebook says."""
    for place, name in (("language_info", "name"), ("kernelspec", "language")):
        language = _field(metadata, place, name)
        if isinstance(language, str) and language:
            return "python" in language.lower()
    kernel = _field(metadata, "kernelspec", "name")
    return not (isinstance(kernel, str) and _NOT_PYTHON.fullmatch(kernel))


def _is_python(cell: Mapping[str, Any]) -> bool:
    language = _field(cell, "metadata", "vscode", "languageId") or cell.get("language") or "python"
    return cell.get("cell_type") == "code" and language == "python"


def _field(thing: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(thing, Mapping):
            return None
        thing = thing.get(key)
    return thing
