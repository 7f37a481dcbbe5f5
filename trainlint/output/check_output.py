"""The report of a check in the format that was asked for."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.output.concise import concise
from trainlint.output.document import document
from trainlint.output.layout import Layout
from trainlint.output.output_format import OutputFormat
from trainlint.output.overview import overview
from trainlint.output.statistics import statistics
from trainlint.output.style import Piece
from trainlint.output.text import closing, limited, text
from trainlint.output.wrapping import wrapped
from trainlint.project.source_texts import Lines
from trainlint.report import Report


def check_output(
    report: Report,
    lines: Lines,
    output_format: OutputFormat,
    *,
    counted: bool,
    closed: bool,
    layout: Layout,
    verbose: bool = False,
) -> Iterator[Piece]:
    """`counted`: how often each rule found something, in place of the findings. `closed`: with a last
    sentence for people. `verbose`: with the limits that were reached."""
    whole = document(report, lines, output_format)
    if whole is not None:
        yield Piece(whole)
        return
    if counted:
        yield from statistics(report)
    elif output_format is OutputFormat.concise:
        yield from concise(report)
    else:
        yield from text(report, lines, layout)
    if verbose:
        yield from wrapped([Piece(limited(report))], layout.columns)
    if closed and output_format is OutputFormat.text:
        if not counted:
            yield from overview(report, layout.columns)
        yield from wrapped([Piece(closing(report, is_told=verbose))], layout.columns)
