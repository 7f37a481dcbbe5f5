"""`%load_ext trainlint`: magics that record a cell and check the notebook."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainlint.catalogue import names
from trainlint.check.analysis import Source, analyse
from trainlint.check.checking import selection_for
from trainlint.check.ignore import silence
from trainlint.check.select import selected
from trainlint.notebook.in_cells import in_cells
from trainlint.notebook.kernel import running
from trainlint.output.html import html
from trainlint.output.layout import Layout
from trainlint.output.problems import problem_lines
from trainlint.output.style import Piece, plain
from trainlint.output.text import closing, text
from trainlint.project.config import find_config
from trainlint.project.source_texts import SourceTexts
from trainlint.report import Report

_COLUMNS = 110


def load(shell: Any) -> None:
    """Register the magics with IPython."""
    shell.register_magic_function(_recorder(shell), "cell", "trainlint")
    shell.register_magic_function(lambda line: _check(line), "line", "trainlint_check")


def _recorder(shell: Any) -> Any:
    def trainlint(line: str, cell: str) -> Any:
        """Record the training step in this cell and judge it.

        %%trainlint [--steps N] [--report FILE]
        """
        options = _options(line)
        if options is None:
            return None
        from trainlint.trace.launch.recording import record

        with record(options.steps) as trace:
            result = shell.run_cell(cell)
        if not result.success:
            return None  # IPython has shown why
        report = trace.report()
        if options.report:
            report.save(options.report)
        return report

    return trainlint


def _options(line: str) -> argparse.Namespace | None:
    """What stands behind `%%trainlint`; None after saying what is wrong with it."""
    parser = argparse.ArgumentParser(prog="%%trainlint", add_help=False, exit_on_error=False)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--report", default="")
    try:
        options, others = parser.parse_known_args(line.split())
    except argparse.ArgumentError as error:
        print(f"%%trainlint: {error}")
        return None
    if others or options.steps < 1:
        print("usage: %%trainlint [--steps N] [--report FILE]")
        return None
    return options


class CheckReport:
    """What the source of a notebook's cells shows. Prints as text, and shows itself as HTML in a notebook."""

    def __init__(self, report: Report, texts: SourceTexts) -> None:
        self._report = report
        self._texts = texts

    def __str__(self) -> str:
        return plain(self._pieces())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html(self._pieces())

    def _pieces(self) -> Iterator[Piece]:
        yield from problem_lines(self._report.problems)
        yield from text(self._report, self._texts.lines, Layout(columns=_COLUMNS))
        yield Piece(closing(self._report))


def _check(line: str) -> CheckReport | None:
    """Check the cells that were run, as `trainlint check` does."""
    kernel = running()
    if line.strip() or kernel is None:
        print("usage: %trainlint_check")
        return None
    began = time.perf_counter()
    config = find_config(Path.cwd())
    texts = SourceTexts({kernel.path: kernel.raw})
    program, broken = texts.program(kernel.path)
    analysis = analyse([Source(kernel.path, program)], jobs=1, concerns=config.concerns())
    found = selected(
        silence(analysis.findings, [kernel.path], texts.source, names()), selection_for((), (), config)
    )
    report = Report(tuple(found), (*broken, *analysis.problems), analysis.files, time.perf_counter() - began)
    return CheckReport(in_cells(report, texts), texts)
