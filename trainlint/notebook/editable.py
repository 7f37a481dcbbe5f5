"""A notebook, edited: the sources of the cells that change, and nothing else of its file."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from trainlint.editable import Editable, Undecodable, file_lines
from trainlint.finding import Edit, Place
from trainlint.notebook.document import NotANotebook
from trainlint.notebook.program import Block, Notebook, ended


class EditableNotebook:
    """The text is that of its program; edits are made in the cells."""

    def __init__(self, path: str, raw: bytes) -> None:
        """Raises Undecodable."""
        try:
            self._notebook = Notebook(path, raw)
        except NotANotebook as error:
            raise Undecodable(str(error)) from error
        self.raw = raw

    @property
    def text(self) -> str:
        return self._notebook.text

    def takes(self, edits: Iterable[Edit]) -> bool:
        """Whether edits can be made: each in one cell, where that is Python as it stands."""
        return all(self._holds(edit.at) for edit in edits)

    def edited(self, edits: Iterable[Edit]) -> EditableNotebook:
        """With edits that do not overlap."""
        by_cell: dict[int, list[Edit]] = defaultdict(list)
        for edit in edits:
            block = self._block(edit.at.line)
            above = block.first - 1
            at = edit.at._replace(line=edit.at.line - above, end_line=edit.at.end_line - above)
            by_cell[block.cell.number].append(Edit(at, edit.replacement))
        return self._with(
            {number: _edited(self._source(number), changes) for number, changes in by_cell.items()}
        )

    @property
    def pieces(self) -> dict[int, str]:
        """The Python of each cell, by number."""
        return {block.cell.number: block.text for block in self._notebook.blocks}

    def tidied(self, before: Mapping[int, str], tidy: Callable[[str, str], str]) -> EditableNotebook:
        """With the lines of changed pieces that `tidy` leaves, which is told what was in them and what is."""
        sources = {}
        for block in self._notebook.blocks:
            number = block.cell.number
            if before.get(number, block.text) != block.text:
                sources[number] = _with_lines_of(block, tidy(before[number], block.text))
        return self._with(sources)

    @property
    def broken(self) -> frozenset[int]:
        """The cells that Python does not accept, by number."""
        refused = {block.cell.number for block in self._notebook.blocks if not _compiles(block.text)}
        return frozenset(refused | self._notebook.broken.keys())

    @property
    def parts(self) -> Iterator[tuple[str, list[str]]]:
        """What a diff shows apart, each cell of Python: how it is called, and its lines."""
        for cell in self._notebook.document.cells:
            yield f"{self._notebook.path}:cell {cell.number}", file_lines(ended(cell.source))

    def _holds(self, at: Place) -> bool:
        block = self._block(at.line)
        if not block.first <= at.line <= at.end_line < block.end:
            return False
        last = at.end_line if at.end_column > 1 else at.end_line - 1
        if at.line == at.end_line and at.column == 1 == at.end_column:
            last = at.line - 1
        source = file_lines(ended(block.cell.source) + "\n")
        program = file_lines(block.text)
        touched = slice(at.line - block.first, last - block.first + 1)
        return source[touched] == program[touched]

    def _block(self, line: int) -> Block:
        block = self._notebook.block(line)
        assert block is not None
        return block

    def _source(self, number: int) -> str:
        return next(cell.source for cell in self._notebook.document.cells if cell.number == number)

    def _with(self, sources: Mapping[int, str]) -> EditableNotebook:
        return EditableNotebook(self._notebook.path, self._notebook.document.with_sources(sources))


def _edited(source: str, edits: Iterable[Edit]) -> str:
    """A cell's source with edits. One that had no line end at its end has none after them."""
    is_ended = source.endswith(("\n", "\r"))
    text = Editable(ended(source), "utf-8", is_ended).edited(edits).text
    return text if is_ended else text.removesuffix("\n")


def _with_lines_of(block: Block, text: str) -> str:
    """A cell's source, in which only those lines are left that stand in a text."""
    left = file_lines(text)
    kept = []
    for line, source in zip(file_lines(block.text), file_lines(ended(block.cell.source)), strict=False):
        if left and left[0] == line:
            kept.append(source)
            del left[0]
    text = "".join(kept)
    return text if block.cell.source.endswith(("\n", "\r")) else text.removesuffix("\n")


def _compiles(text: str) -> bool:
    """Whether Python accepts a cell, where `await` may stand anywhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
