"""`trainlint compare`: what changed between two recordings."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from trainlint.cli.exits import CLEAN, FOUND, exit_codes
from trainlint.cli.options import ExitZero, ListedAs, OutputFile
from trainlint.errors import UsageError
from trainlint.output.delivery import deliver
from trainlint.output.output_format import ListFormat
from trainlint.output.style import Piece
from trainlint.output.writing import check_writable, write_file


def compare(
    before: Annotated[
        Path, typer.Argument(help="A recording, such as that of a good run.", metavar="BEFORE")
    ],
    after: Annotated[Path, typer.Argument(help="Another one.", metavar="AFTER")],
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Write both side by side as one HTML file.", metavar="FILE"),
    ] = None,
    output_format: ListedAs = ListFormat.text,
    output_file: OutputFile = None,
    exit_zero: ExitZero = False,
) -> None:
    """Show what changed between two recordings of `run --save-trace`: order, shapes, types, norms, losses.

    Exits with 0 if nothing differs, 1 if something does, and 2 if a recording cannot be read.
    """
    with exit_codes():
        from trainlint.comparing.compare import differences
        from trainlint.comparing.text import comparison_text
        from trainlint.facts.trace_file import NotATrace, load

        for file in (report, output_file):
            if file is not None:
                check_writable(file)
        runs = []
        for file in (before, after):
            try:
                runs.append(load(file))
            except OSError as error:
                raise UsageError(f"{file} cannot be read: {error.strerror}") from error
            except NotATrace as error:
                raise UsageError(f"{file} cannot be compared: {error}") from error
        found = differences(*runs)
        names = (before.name, after.name) if before.name != after.name else (str(before), str(after))
        if output_format is ListFormat.json:
            rows = [{key: value for key, value in asdict(one).items() if key != "size"} for one in found]
            deliver([Piece(f"{json.dumps({'version': 1, 'differences': rows}, indent=2)}\n")], output_file)
        else:
            deliver(comparison_text(found, *names), output_file)
        if report is not None:
            from trainlint.html_report.comparison import comparison_page

            write_file(report, comparison_page(found, runs[0], runs[1], names))
        raise typer.Exit(FOUND if found and not exit_zero else CLEAN)
