"""The source that findings point into: what was given on standard input, or what is on disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from trainlint.finding import Place, Problem
from trainlint.project.bytes_on_disk import Contents
from trainlint.project.encodings import encoding_of

if TYPE_CHECKING:
    from trainlint.notebook.program import Notebook

Lines = Callable[[Place], Sequence[str]]
"""The lines that a place counts through: those of its file, of its notebook's program, or of its cell."""


class SourceTexts:
    """Source by path, read when asked for; a file that cannot be read, or may not be shown, is empty."""

    def __init__(
        self, given: Mapping[str, bytes] | None = None, may_show: Callable[[str], bool] | None = None
    ) -> None:
        self.given = given or {}
        self._may_show = may_show or (lambda path: True)
        self._lines = cache(self._split)
        self._notebook = cache(self._read_notebook)

    def raw(self, path: str) -> bytes:
        """What is in the file."""
        if path in self.given:
            return self.given[path]
        try:
            return Contents({}).get(path) if self._may_show(path) else b""
        except OSError:
            return b""

    def source(self, path: str) -> bytes:
        """The Python in the file. Raises NotANotebook."""
        notebook = self.notebook(path)
        return self.raw(path) if notebook is None else notebook.source

    def program(self, path: str) -> tuple[bytes | None, list[Problem]]:
        """What is checked in the place of a file, None for what is on disk; and what of a notebook is no Python."""
        if not path.endswith(".ipynb"):
            return self.given.get(path), []
        from trainlint.notebook.document import NotANotebook

        try:
            notebook = self._notebook(path)
        except NotANotebook as error:
            return b"", [Problem(path, error.line, str(error))]
        return notebook.source, list(notebook.problems)

    def lines(self, at: Place) -> Sequence[str]:
        """Lines as Python counts them, without their ends."""
        if at.cell is None:
            return self._lines(at.path)
        notebook = self.notebook(at.path)
        return () if notebook is None else notebook.lines(at.cell.number)

    def notebook(self, path: str) -> Notebook | None:
        """The notebook of this name; None for all other files. Raises NotANotebook."""
        return self._notebook(path) if path.endswith(".ipynb") else None

    def located(self, at: Place) -> Place:
        """A place as people look for it: in the cell, if it is in a notebook."""
        notebook = self.notebook(at.path)
        return at if notebook is None else notebook.located(at)

    def located_problem(self, problem: Problem) -> Problem:
        """The same for a problem."""
        from trainlint.notebook.document import NotANotebook

        try:
            notebook = self.notebook(problem.path)
        except NotANotebook:
            return problem
        return problem if notebook is None else notebook.located_problem(problem)

    def _read_notebook(self, path: str) -> Notebook:
        from trainlint.notebook.document import NotANotebook
        from trainlint.notebook.program import Notebook

        try:
            raw = Contents(self.given).get(path)
        except OSError as error:
            raise NotANotebook(f"cannot be read: {error.strerror or error}") from error
        return Notebook(path, raw)

    def _split(self, path: str) -> list[str]:
        raw = self.source(path)
        try:
            encoding = encoding_of(raw)
        except SyntaxError:
            encoding = "utf-8"
        return re.split("\r\n|\r|\n", raw.decode(encoding, errors="replace"))
