"""The command line: one function per command."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainlint import __version__
from trainlint.exits import CLEAN, FAILED, FOUND, INTERRUPTED, PROGRAM_FAILED, exit_codes
from trainlint.output.output_format import OutputFormat
from trainlint.output.style import Piece, plain
from trainlint.program_arguments import RunsAProgram
from trainlint.usage_error import UsageError
from trainlint.writing import check_writable, complain, wants_colour, write, write_file, write_pieces

if TYPE_CHECKING:
    from trainlint.report import Report
    from trainlint.traced_program import Outcome, Program

app = typer.Typer(
    help="Find what silently breaks PyTorch training.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        write(f"trainlint {__version__}\n", sys.stdout)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    pass


@app.command()
def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Files and folders to check, or - for standard input.", metavar="[PATHS]..."),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(help="Only these rules: codes, beginnings of codes, names, or ALL.", metavar="RULES"),
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Not these rules.", metavar="RULES")] = None,
    output_format: Annotated[
        OutputFormat, typer.Option(help="How findings are written.")
    ] = OutputFormat.text,
    output_file: Annotated[
        Path | None, typer.Option(help="Write here instead of to standard output.")
    ] = None,
    statistics: Annotated[bool, typer.Option("--statistics", help="Count findings per rule.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Findings alone, no closing line.")] = False,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even with findings.")] = False,
    stdin_filename: Annotated[
        str | None, typer.Option(help="What standard input is called.", metavar="PATH")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="This configuration, instead of the nearest.", metavar="FILE")
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", help="How many processes.", min=1)] = None,
    cache_dir: Annotated[Path | None, typer.Option(help="Where facts are kept between runs.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither read nor keep facts.")] = False,
) -> None:
    """Check training code without running it.

    Exits with 0 if all is clear, 1 with findings, and 2 if something could not be done or read.
    """
    with exit_codes():
        from trainlint.checking import Request, run_check
        from trainlint.output.check_output import check_output
        from trainlint.output.problems import problem_lines

        if statistics and output_format is OutputFormat.json:
            raise UsageError("--statistics is for people; the JSON holds every finding")
        report, texts = run_check(
            Request(
                paths=tuple(paths or ["."]),
                stdin_filename=stdin_filename,
                config_file=config,
                select=_separated(select),
                ignore=_separated(ignore),
                jobs=jobs,
                cache_dir=cache_dir,
                cached=not no_cache,
                quiet=quiet,
            )
        )
        if output_format is not OutputFormat.json:
            write_pieces(problem_lines(report.problems), sys.stderr)
        pieces = check_output(
            report,
            texts.lines,
            output_format,
            counted=statistics,
            closed=not quiet,
            room=_room_for_source(),
        )
        _deliver(pieces, output_file)
        if report.shown:
            raise typer.Exit(CLEAN if exit_zero else FOUND)
        raise typer.Exit(FAILED if report.problems else CLEAN)


@app.command(cls=RunsAProgram, context_settings={"allow_interspersed_args": False})
def run(
    script: Annotated[
        list[str] | None,
        typer.Argument(help="A script and its arguments.", metavar="[SCRIPT [ARGS]...]", show_default=False),
    ] = None,
    module: Annotated[
        str | None,
        typer.Option("-m", help="Run a module, as `python -m` does.", metavar="MODULE"),
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Record a training step of the program, and judge it.")
    ] = False,
    steps: Annotated[int, typer.Option(help="How many optimizer steps to record.", min=1)] = 1,
    timeout: Annotated[
        float | None, typer.Option(help="End the program after so many seconds.", metavar="SECONDS", min=0)
    ] = None,
    max_steps_wait: Annotated[
        int, typer.Option(help="End it after so many backward passes without a step.", min=1)
    ] = 100,
    save_trace: Annotated[Path | None, typer.Option(help="Keep the recording.", metavar="FILE")] = None,
    from_trace: Annotated[
        Path | None, typer.Option(help="Judge a recording that was kept; runs nothing.", metavar="FILE")
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(help="Only these rules: codes, beginnings of codes, names, or ALL.", metavar="RULES"),
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Not these rules.", metavar="RULES")] = None,
    output_format: Annotated[
        OutputFormat, typer.Option(help="How findings are written.")
    ] = OutputFormat.text,
    output_file: Annotated[
        Path | None, typer.Option(help="Write here instead of to standard output.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Findings alone.")] = False,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even with findings.")] = False,
    config: Annotated[
        Path | None, typer.Option(help="This configuration, instead of the nearest.", metavar="FILE")
    ] = None,
    cache_dir: Annotated[Path | None, typer.Option(help="Where facts are kept between runs.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither read nor keep facts.")] = False,
) -> None:
    """Run a training program, record one step of it, and say which findings are true.

    Exits with 0 if all is clear, 1 with findings, 2 if nothing could be recorded, and 3 if the program failed.
    """
    with exit_codes():
        from trainlint.output.run_output import run_output
        from trainlint.running import RunRequest
        from trainlint.running import run as run_program

        program = _program(script or [], module, trace, from_trace)
        if output_file is not None:
            check_writable(output_file)
        report, texts, outcome = run_program(
            RunRequest(
                program=program,
                from_trace=from_trace,
                save_trace=save_trace,
                steps=steps,
                max_wait=max_steps_wait,
                timeout=timeout,
                config_file=config,
                select=_separated(select),
                ignore=_separated(ignore),
                cache_dir=cache_dir,
                cached=not no_cache,
            ),
            _say_waiting(quiet),
        )
        _deliver(
            run_output(report, texts.lines, output_format, closed=not quiet, room=_room_for_source()),
            output_file,
        )
        if outcome.timed_out:
            complain(f"the program was ended after {timeout:g} s, as --timeout says")
        raise typer.Exit(_code(report, outcome, exit_zero))


def _program(script: list[str], module: str | None, trace: bool, from_trace: Path | None) -> Program | None:
    """What to run, from what stands on the command line."""
    from trainlint.traced_program import Program

    if from_trace is not None:
        if script or module:
            raise UsageError("--from-trace judges a recording: there is nothing to run beside it")
        return None
    if not trace:
        raise UsageError("say `run --trace`: without it, `python` runs a program as well")
    if module is not None:
        return Program("module", module, tuple(script))
    if not script:
        raise UsageError("name a script, or a module with -m")
    return Program("script", script[0], tuple(script[1:]))


def _say_waiting(quiet: bool) -> Callable[[str], None]:
    """Tells people at a terminal what the recording waits for."""
    if quiet or not sys.stderr.isatty():
        return lambda _: None
    return lambda text: write(f"trainlint: waiting for {text}\n", sys.stderr)


def _code(report: Report, outcome: Outcome, exit_zero: bool) -> int:
    run = report.run
    assert run is not None
    if outcome.interrupted:
        return INTERRUPTED
    if run.ending.how in ("failed", "exited") and run.ending.error:
        return PROGRAM_FAILED
    if report.standing:
        return CLEAN if exit_zero else FOUND
    if report.problems or not (run.ending.steps or run.ending.by_hand):
        return FAILED
    return CLEAN


@app.command()
def explain(rule: Annotated[str, typer.Argument(help="A rule's code or name.", metavar="RULE")]) -> None:
    """Show a rule's page."""
    with exit_codes():
        from trainlint.catalogue import names, page
        from trainlint.select import nearest_rule

        known = names()
        code = next((code for code, name in known.items() if rule.lower() in (code.lower(), name)), None)
        if code is None:
            raise UsageError(f"no rule is called `{rule}`{nearest_rule(rule, known)}")
        if wants_colour(sys.stdout):
            from rich.console import Console
            from rich.markdown import Markdown

            with_colour = Console(force_terminal=True)
            with with_colour.capture() as rendered:
                with_colour.print(Markdown(page(code)))
            write(rendered.get(), sys.stdout)
        else:
            write(page(code), sys.stdout)


@app.command()
def rules(
    output_format: Annotated[
        OutputFormat, typer.Option(help="How the rules are written.")
    ] = OutputFormat.text,
    output_file: Annotated[
        Path | None, typer.Option(help="Write here instead of to standard output.")
    ] = None,
) -> None:
    """List the rules."""
    with exit_codes():
        from trainlint.catalogue import described
        from trainlint.output.rule_index import concise_rule_index, json_rule_index, rule_index

        match output_format:
            case OutputFormat.text:
                pieces = rule_index(described())
            case OutputFormat.concise:
                pieces = concise_rule_index(described())
            case OutputFormat.json:
                pieces = iter([Piece(json_rule_index(described()))])
        _deliver(pieces, output_file)


def _separated(values: list[str] | None) -> tuple[str, ...]:
    """What a repeatable option was given, with commas between."""
    return tuple(item.strip() for value in values or [] for item in value.split(",") if item.strip())


def _deliver(pieces: Iterable[Piece], file: Path | None) -> None:
    if file is None:
        write_pieces(pieces, sys.stdout)
    else:
        write_file(file, plain(pieces))


def _room_for_source() -> int:
    """Cells for a line of source beside its number: what a terminal has, or plenty."""
    return max(40, shutil.get_terminal_size((160, 24)).columns - 10)
