"""The notebook that this process runs, as far as IPython knows it: the cells that were run, and which line of theirs a
frame is at."""

from __future__ import annotations

import json
import linecache
import os
import sys
from typing import Any

from trainlint.notebook.document import NotANotebook
from trainlint.notebook.program import Notebook

_NAME = "notebook.ipynb"
_RUNS_A_MAGIC = "get_ipython().run_cell_magic("
"""With this begins what IPython makes of a cell that begins with `%%`."""


class Kernel:
    """The cells that the running IPython has run so far, each under the number that stands beside it (`In [4]`).

    Of a cell that was run more than once, each text is kept that was run: names may come from any of them.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        sources = [str(one) for one in shell.history_manager.input_hist_raw[1:]]
        cells = [{"cell_type": "code", "metadata": {}, "source": one, "outputs": []} for one in sources]
        document = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        self.path = _path(shell)
        self.raw = json.dumps(document).encode("utf-8")
        """The cells as the file of a notebook."""
        self._notebook = Notebook(self.path, self.raw)
        self._sources = sources
        self._first = {block.cell.number: block.first for block in self._notebook.blocks}

    def begin(self, folder: str) -> None:
        """Let Python know the text of the notebook's program under the notebook's name in a folder."""
        lines = self._notebook.text.splitlines(keepends=True)
        name = os.path.join(folder, self.path)
        linecache.cache[name] = (len(self._notebook.text), None, lines, name)

    def line(self, file: str, line: int) -> int | None:
        """The line of the notebook's program that a line of the code of a cell is; None if the code is of no cell."""
        numbered = getattr(self._shell.compile, "_filename_map", {}).get(file, 0)
        number = min(numbered, len(self._sources))  # what a magic runs may bear the number of the next cell
        first = self._first.get(number)
        if first is None:
            return None
        is_body = self._sources[number - 1].lstrip().startswith("%%")
        is_whole = linecache.getline(file, 1).startswith(_RUNS_A_MAGIC)
        return first + line - 1 + (is_body and not is_whole)


def running() -> Kernel | None:
    """The notebook, or the session of IPython, that this process runs; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or getattr(shell, "history_manager", None) is None:
        return None
    try:
        return Kernel(shell)
    except NotANotebook:
        return None


def _path(shell: Any) -> str:
    """What the notebook is called, where the program that shows it says so."""
    named = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME") or ""
    name = os.path.basename(str(named))
    return name if name.endswith(".ipynb") else _NAME
