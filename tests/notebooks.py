"""Notebooks as Jupyter's own library writes them, in every format that is about."""

from __future__ import annotations

import json
from typing import Any

import nbformat

Cell = tuple[str, str]
"""What kind of cell it is, and its source."""

library: Any = nbformat  # which has no types
v3, v4 = library.v3, library.v4
FORMATS = [(3, 0), *((4, minor) for minor in range(6))]


def notebook(*cells: Cell | str, version: tuple[int, int] = (4, 5), kernel: str = "python") -> str:
    """A valid notebook; a cell that is only a source is code."""
    listed = [("code", cell) if isinstance(cell, str) else cell for cell in cells]
    major, minor = version
    nb = _third(listed) if major == 3 else _fourth(listed, minor, kernel)
    library.validate(nb)
    return str(library.writes(nb, version=library.NO_CONVERT)) + "\n"


def _third(cells: list[Cell]) -> Any:
    made = [
        v3.new_code_cell(input=source) if kind == "code" else v3.new_text_cell(kind, source=source)
        for kind, source in cells
    ]
    return v3.new_notebook(metadata={}, worksheets=[v3.new_worksheet(cells=made)])


def _fourth(cells: list[Cell], minor: int, kernel: str) -> Any:
    make = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell, "raw": v4.new_raw_cell}
    nb = v4.new_notebook(cells=[make[kind](source) for kind, source in cells])
    nb.nbformat_minor = minor
    nb.metadata = {"language_info": {"name": kernel}}
    for cell in nb.cells:
        if minor < 5:
            del cell["id"]
        if cell.cell_type == "code":
            cell.execution_count = 7
            cell.outputs = [v4.new_output("stream", name="stdout", text="é\n")]
    return nb


def with_sources_as(text: str, kind: type[str] | type[list[str]]) -> str:
    """The same notebook with every source as one string, or as a list of lines."""
    document = json.loads(text)
    sheets = document.get("worksheets", [document])
    for cell in (cell for sheet in sheets for cell in sheet["cells"]):
        for key in ("source", "input"):
            if key in cell:
                whole = "".join(cell[key])
                cell[key] = whole if kind is str else whole.splitlines(keepends=True)
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
