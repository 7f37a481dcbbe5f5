"""One check and its report: what `check` does once, and with `--watch` after every change."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TextIO

from trainlint.check.checking import STDIN, Request, common_folder, run_check
from trainlint.cli.exits import CLEAN, FAILED, FOUND
from trainlint.cli.watching import watch
from trainlint.errors import UsageError
from trainlint.fixing.proposals import fixable, with_fixes
from trainlint.notebook.in_cells import in_cells
from trainlint.output.check_output import check_output
from trainlint.output.delivery import deliver
from trainlint.output.layout import Layout, Order, columns
from trainlint.output.output_format import OutputFormat
from trainlint.output.problems import problem_lines
from trainlint.output.text import fixed
from trainlint.output.writing import write, write_pieces
from trainlint.project.config import find_config, read_config
from trainlint.project.source_texts import SourceTexts
from trainlint.report import Report


class Fixing(Enum):
    """Whether findings are fixed, or the difference that it would make is shown."""

    off = "off"
    on = "on"
    shown = "shown"


@dataclass(frozen=True)
class View:
    """What is done about findings, how the report is written, and where.

    Args:
        counted: how often each rule found something, and no more.
        unsafe: fixes may be such that somebody has to look at them.
        verbose: with the limits that the analysis has reached.
        order: which findings people read last.
        whole: with every finding, however many are alike.
    """

    output_format: OutputFormat
    output_file: Path | None
    counted: bool
    quiet: bool
    exit_zero: bool
    fixing: Fixing = Fixing.off
    unsafe: bool = False
    verbose: bool = False
    order: Order = Order.level
    whole: bool = False


def check_again_and_again(request: Request, view: View) -> None:
    """Check now and after every change, until Ctrl-C. Raises UsageError for what can be done but once."""
    if STDIN in request.paths:
        raise UsageError("--watch only works with files on disk, not with standard input")
    if request.write_baseline:
        raise UsageError(
            "--watch cannot be combined with --write-baseline: every new finding would be in the baseline"
        )
    given = request.config_file
    config = read_config(given) if given else find_config(common_folder(request.paths))
    files = [file for file in (config.file, request.baseline or config.baseline) if file is not None]
    watch(request.paths, files, lambda: check_and_report(request, view), quiet=request.quiet)


def check_and_report(request: Request, view: View) -> int:
    """Check, write the report, and return the exit code that it asks for."""
    if view.counted and not view.output_format.is_for_people:
        raise UsageError(
            "--statistics is a text format, and cannot be combined with --output-format "
            f"{view.output_format.value}"
        )
    if view.unsafe and view.fixing is Fixing.off:
        raise UsageError("--unsafe-fixes needs --fix or --diff")
    if view.fixing is Fixing.off:
        report, texts = run_check(request)
        return write_report(_with_fixes(report, texts, view.output_format), texts, view)
    if request.shard is not None:
        raise UsageError("--shard cannot be combined with --fix or --diff: fixes need the whole program")
    from trainlint.cli.fix_report import fix_and_report, show_fixes

    do = show_fixes if view.fixing is Fixing.shown else fix_and_report
    return do(request, view)


def _with_fixes(report: Report, texts: SourceTexts, output_format: OutputFormat) -> Report:
    """The report with what its format says of fixes: edits, or how many there are."""
    if output_format is OutputFormat.text:
        return replace(report, fixable=fixable(report.within_reach))
    if not output_format.holds_fixes:
        return report
    findings, problems = with_fixes(report.findings, texts.raw)
    return replace(report, findings=tuple(findings), problems=(*report.problems, *problems))


def write_report(report: Report, texts: SourceTexts, view: View, to: TextIO | None = None) -> int:
    """Write a report to where the view says, or else `to` a stream; the exit code that it asks for."""
    report = in_cells(report, texts)
    if view.output_format.is_for_people:
        write_pieces(problem_lines(report.problems), sys.stderr)
    pieces = check_output(
        report,
        texts.lines,
        view.output_format,
        counted=view.counted,
        closed=not view.quiet,
        layout=Layout(None if view.output_file else columns(), view.order, view.whole),
        verbose=view.verbose,
    )
    deliver(pieces, view.output_file, to)
    if view.output_format is OutputFormat.concise and not view.quiet:
        write(fixed(report), sys.stderr)
    if report.shown:
        return CLEAN if view.exit_zero else FOUND
    return FAILED if report.problems else CLEAN
