"""The report of a traced run in the format that was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.output.concise import concise
from trainlint.output.document import document
from trainlint.output.layout import Layout
from trainlint.output.output_format import OutputFormat
from trainlint.output.problems import problem_lines
from trainlint.output.step_report import step_report
from trainlint.output.style import Piece
from trainlint.output.text import closing, text
from trainlint.output.wrapping import wrapped
from trainlint.project.source_texts import Lines
from trainlint.report import Report


def run_output(
    report: Report, lines: Lines, output_format: OutputFormat, *, closed: bool, layout: Layout
) -> Iterator[Piece]:
    """The findings with their verdicts; in text, also what the step showed and what was not checked."""
    whole = document(report, lines, output_format)
    if whole is not None:
        yield Piece(whole)
        return
    if output_format is OutputFormat.concise:
        yield from concise(report)
        return
    yield from problem_lines(report.problems)
    yield from text(report, lines, layout)
    if closed and report.run is not None:
        yield from step_report(report.run, report.not_checked)
        yield from wrapped([Piece(closing(report))], layout.columns)
