"""A report whose places in notebooks are told by cell and line."""

from __future__ import annotations

from dataclasses import replace

from trainlint.finding import Because, Edit, Finding, Fix
from trainlint.project.source_texts import SourceTexts
from trainlint.report import Report


def in_cells(report: Report, texts: SourceTexts) -> Report:
    """What the engine has said of the programs of notebooks, as people look for it."""
    return replace(
        report,
        findings=tuple(_finding(finding, texts) for finding in report.findings),
        problems=tuple(map(texts.located_problem, report.problems)),
    )


def _finding(finding: Finding, texts: SourceTexts) -> Finding:
    return replace(
        finding,
        at=texts.located(finding.at),
        because=tuple(Because(texts.located(at), message) for at, message in finding.because),
        fix=None if finding.fix is None else _fix(finding.fix, texts),
    )


def _fix(fix: Fix, texts: SourceTexts) -> Fix:
    notebook = texts.notebook(fix.edits[0].at.path)
    if notebook is None:
        return fix
    from trainlint.notebook.cell_edits import in_file

    by_cell = tuple(Edit(texts.located(at), new) for at, new in fix.edits)
    return replace(fix, edits=by_cell, in_notebook=in_file(notebook, fix.edits))
