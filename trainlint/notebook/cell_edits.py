"""A notebook, edited: the sources of the cells that change, and nothing else of its file."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator

from trainlint.finding import Edit, Place
from trainlint.fixing.text import Editable, Undecodable, file_lines
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
        sources = _sources(self._notebook, edits)
        return EditableNotebook(self._notebook.path, self._notebook.document.with_sources(sources))

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
        block = _block(self._notebook, at.line)
        if not block.first <= at.line <= at.end_line < block.end:
            return False
        last = at.end_line if at.end_column > 1 else at.end_line - 1
        if at.line == at.end_line and at.column == 1 == at.end_column:
            last = at.line - 1
        source = file_lines(ended(block.cell.source) + "\n")
        program = file_lines(block.text)
        touched = slice(at.line - block.first, last - block.first + 1)
        return source[touched] == program[touched]


def in_file(notebook: Notebook, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits of a notebook's program as those of its file, one for each cell."""
    changes = (
        notebook.document.change(number, source) for number, source in _sources(notebook, edits).items()
    )
    return tuple(Edit(Place(notebook.path, *start, *end), text) for start, end, text in changes)


def _sources(notebook: Notebook, edits: Iterable[Edit]) -> dict[int, str]:
    """The sources of the cells that edits change, by number."""
    blocks: dict[int, Block] = {}
    by_cell: dict[int, list[Edit]] = defaultdict(list)
    for edit in edits:
        block = _block(notebook, edit.at.line)
        above = block.first - 1
        at = edit.at._replace(line=edit.at.line - above, end_line=edit.at.end_line - above)
        blocks[block.cell.number] = block
        by_cell[block.cell.number].append(Edit(at, edit.replacement))
    return {number: _edited(blocks[number].cell.source, changes) for number, changes in by_cell.items()}


def _block(notebook: Notebook, line: int) -> Block:
    block = notebook.block(line)
    assert block is not None
    return block


def _edited(source: str, edits: Iterable[Edit]) -> str:
    """A cell's source with edits. One that had no line end at its end has none after them."""
    is_ended = source.endswith(("\n", "\r"))
    text = Editable(ended(source), "utf-8", is_ended).edited(edits).text
    return text if is_ended else text.removesuffix("\n")


def _compiles(text: str) -> bool:
    """Whether Python accepts a cell, where `await` may stand anywhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True
