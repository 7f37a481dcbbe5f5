"""Notebooks that are open in the editor: cells that are checked as one program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import unquote

from lsprotocol import types
from pygls.workspace import PositionCodec, TextDocument

from trainlint.finding import Edit, Place, Problem
from trainlint.notebook.cell_edits import EditableNotebook
from trainlint.notebook.program import SUFFIX, Notebook
from trainlint.server.documents import Text, lines_of, path_of

SYNC = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithCells(cells=[types.NotebookCellLanguage(language="python")])
    ],
    save=True,
)
"""What the client is asked for: the Python of all notebooks."""
_LINE_WITH_END = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True)
class OpenNotebook:
    """The cells of Python, in their order."""

    path: str
    texts: tuple[Text, ...]

    @cached_property
    def raw(self) -> bytes:
        """As it would be on disk, with nothing but these cells."""
        cells = [{"cell_type": "code", "source": one.text} for one in self.texts]
        return json.dumps({"cells": cells}).encode()

    @property
    def source(self) -> bytes:
        return self._notebook.source

    @cached_property
    def lines(self) -> Sequence[str]:
        return lines_of(self._notebook.text)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The cells that are no Python."""
        return tuple(self._notebook.problems)

    def mended(self, earlier: OpenNotebook | None) -> OpenNotebook:
        """With cells that are no Python as they were before."""
        before = {one.uri: one for one in earlier.texts} if earlier is not None else {}
        broken = {self.text_of(problem).uri for problem in self.problems}
        return replace(
            self, texts=tuple(before.get(one.uri, one) if one.uri in broken else one for one in self.texts)
        )

    def located(self, at: Place) -> tuple[Text, Place]:
        found = self._notebook.located(at)
        return self._text(found.cell.number if found.cell is not None else 1), found

    def text_of(self, problem: Problem) -> Text:
        return self._text(problem.cell.number if problem.cell is not None else 1)

    def takes(self, at: Place) -> bool:
        """Not where IPython reads something else than Python does."""
        return self._editable.takes([Edit(at, "")])

    def _text(self, number: int) -> Text:
        return self.texts[number - 1]

    @cached_property
    def _notebook(self) -> Notebook:
        return Notebook(self.path, self.raw)

    @cached_property
    def _editable(self) -> EditableNotebook:
        return EditableNotebook(self.path, self.raw)


def notebook(
    opened: types.NotebookDocument, texts: Mapping[str, TextDocument], folders: Iterable[str]
) -> OpenNotebook | None:
    """A notebook of the editor's, whose cells are among these texts; None if it is no file and will be none."""
    path = path_of(opened.uri, folders)
    if path is None:
        return None
    cells = [
        (cell.document, texts.get(unquote(cell.document)))
        for cell in opened.cells
        if cell.kind == types.NotebookCellKind.Code
    ]
    return OpenNotebook(
        path if path.endswith(SUFFIX) else path + SUFFIX,
        tuple(
            Text(uri, text.source, text.version)
            for uri, text in cells
            if text is not None and text.language_id == "python"
        ),
    )


class CellText(TextDocument):
    """The text of a cell, of which clients send what has changed, whatever they were asked for."""

    def __init__(self, item: types.TextDocumentItem, codec: PositionCodec) -> None:
        super().__init__(item.uri, item.text, item.version, item.language_id, position_codec=codec)

    @property
    def lines(self) -> Sequence[str]:
        """As the protocol counts them."""
        return tuple(_LINE_WITH_END.findall(self.source))
