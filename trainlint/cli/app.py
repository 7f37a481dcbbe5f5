"""The command line: one function per command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainlint import __version__
from trainlint.cli import examples
from trainlint.cli.clean import clean
from trainlint.cli.compare_command import compare
from trainlint.cli.config_command import config as show_config
from trainlint.cli.doctor_command import doctor
from trainlint.cli.exits import CLEAN, FAILED, FOUND, INTERRUPTED, PROGRAM_FAILED, exit_codes
from trainlint.cli.mcp_command import mcp
from trainlint.cli.optional_revision import TakesARevision
from trainlint.cli.options import (
    CacheDir,
    ConfigFile,
    ExitZero,
    ExtendSelect,
    FindingsAs,
    Ignore,
    MinConfidence,
    MinLevel,
    NoCache,
    OutputFile,
    OwnRules,
    Select,
    separated,
)
from trainlint.cli.own_rule_commands import new_rule, test_rules
from trainlint.cli.program_arguments import RunsAProgram
from trainlint.cli.rule_commands import explain, rules
from trainlint.cli.schema_command import schema
from trainlint.cli.server_command import server
from trainlint.errors import UsageError
from trainlint.output.delivery import deliver
from trainlint.output.layout import Layout, Order, columns
from trainlint.output.output_format import OutputFormat
from trainlint.output.writing import check_writable, complain, write, write_file

if TYPE_CHECKING:
    from trainlint.report import Report
    from trainlint.run.traced_program import Outcome, Program

app = typer.Typer(
    help="Find what silently breaks PyTorch training.",
    epilog=examples.ALL,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        write(f"trainlint {__version__}\n", sys.stdout)
        raise typer.Exit


_PROJECT = ("trainlint.toml", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", ".git")


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    if context.invoked_subcommand is not None:
        return
    if not any(Path(name).exists() for name in _PROJECT):
        write(f"{context.get_help()}\n", sys.stderr)
        raise typer.Exit(FAILED)
    command = typer.main.get_group(app).commands["check"]
    with command.make_context("check", [], parent=context) as own:
        command.invoke(own)


@app.command(cls=TakesARevision, epilog=examples.CHECK)
def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Files and folders to check, or - for standard input.", metavar="[PATHS]..."),
    ] = None,
    select: Select = None,
    extend_select: ExtendSelect = None,
    ignore: Ignore = None,
    min_level: MinLevel = None,
    min_confidence: MinConfidence = None,
    output_format: FindingsAs = OutputFormat.text,
    output_file: OutputFile = None,
    statistics: Annotated[bool, typer.Option("--statistics", help="Count findings per rule.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only findings, no summary line.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also what was not judged, and which limit was reached.")
    ] = False,
    sort: Annotated[
        Order, typer.Option(help="Worst findings last, or by path.", metavar="level|path")
    ] = Order.level,
    show_all: Annotated[
        bool, typer.Option("--show-all", help="Every finding, however many are alike.")
    ] = False,
    exit_zero: ExitZero = False,
    fix: Annotated[bool, typer.Option("--fix", help="Apply safe fixes.")] = False,
    unsafe_fixes: Annotated[
        bool,
        typer.Option(
            "--unsafe-fixes", help="With --fix or --diff, include unsafe fixes, which need a review."
        ),
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show what --fix would change, without changing files.")
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option(help="Baseline file: report only findings that are not in it.", metavar="FILE"),
    ] = None,
    write_baseline: Annotated[
        bool, typer.Option("--write-baseline", help="Write all current findings to the baseline.")
    ] = False,
    changed_only: Annotated[
        str | None,
        typer.Option(
            help="Report only findings on lines that changed since a commit (default: HEAD).",
            metavar="[REV]",
        ),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again after every change, until Ctrl-C.")
    ] = False,
    stdin_filename: Annotated[
        str | None, typer.Option(help="Filename for standard input.", metavar="PATH")
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            help="Patterns of what is not checked, instead of those configured.", metavar="PATTERNS"
        ),
    ] = None,
    extend_exclude: Annotated[
        list[str] | None,
        typer.Option(help="Patterns of what is not checked either.", metavar="PATTERNS"),
    ] = None,
    force_exclude: Annotated[
        bool, typer.Option("--force-exclude", help="Skip excluded files even if they are named.")
    ] = False,
    no_importers: Annotated[
        bool, typer.Option("--no-importers", help="Do not look for files that import the named files.")
    ] = False,
    own_rules: OwnRules = None,
    part: Annotated[
        str | None,
        typer.Option("--shard", help="Only this part of the check, one of so many.", metavar="NUMBER/OF"),
    ] = None,
    config: ConfigFile = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Number of processes.", min=1, metavar="N")
    ] = None,
    cache_dir: CacheDir = None,
    no_cache: NoCache = False,
) -> None:
    """Check training code without running it.

    Exits with 0 if all is clear, 1 with findings, and 2 if something could not be done or read.
    """
    with exit_codes():
        from trainlint.check.checking import Request
        from trainlint.cli.check_report import Fixing, View, check_again_and_again, check_and_report
        from trainlint.program.incremental.shards import shard

        view = View(
            output_format,
            output_file,
            counted=statistics,
            quiet=quiet,
            exit_zero=exit_zero,
            fixing=Fixing.shown if diff else Fixing.on if fix else Fixing.off,
            unsafe=unsafe_fixes,
            verbose=verbose,
            order=sort,
            whole=show_all,
        )
        request = Request(
            paths=tuple(paths or ["."]),
            stdin_filename=stdin_filename,
            force_exclude=force_exclude,
            importers=not no_importers,
            config_file=config,
            select=separated(select),
            extend_select=separated(extend_select),
            ignore=separated(ignore),
            exclude=None if exclude is None else separated(exclude),
            extend_exclude=separated(extend_exclude),
            min_level=min_level,
            min_confidence=min_confidence,
            baseline=baseline,
            write_baseline=write_baseline,
            changed_since=changed_only,
            jobs=jobs,
            cache_dir=cache_dir,
            cached=not no_cache,
            quiet=quiet,
            own_rules=own_rules,
            shard=None if part is None else shard(part),
        )
        if watch:
            check_again_and_again(request, view)
        raise typer.Exit(check_and_report(request, view))


@app.command(
    cls=RunsAProgram,
    epilog=examples.RUN,
    short_help="Record a step of a training program, and judge findings.",
    context_settings={"allow_interspersed_args": False},
)
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
        bool, typer.Option("--trace", help="Record a training step: what `run` does anyway.", hidden=True)
    ] = False,
    steps: Annotated[int, typer.Option(help="Number of optimizer steps to record.", min=1)] = 1,
    skip_steps: Annotated[
        int, typer.Option(help="Let this many optimizer steps go by before recording.", min=0)
    ] = 0,
    phase: Annotated[
        int | None,
        typer.Option(help="Record only this phase; a phase begins with an optimizer that is new.", min=1),
    ] = None,
    phase_seconds: Annotated[
        float,
        typer.Option(help="How long to go on for the optimizer of the next phase.", metavar="SECONDS", min=0),
    ] = 30.0,
    probe: Annotated[
        str | None,
        typer.Option(help="Try these things on copies after the step, or all.", metavar="PROBES"),
    ] = None,
    probe_seconds: Annotated[
        float, typer.Option(help="How long each probe may take.", metavar="SECONDS", min=0)
    ] = 10.0,
    timeout: Annotated[
        float | None, typer.Option(help="End the program after this many seconds.", metavar="SECONDS", min=0)
    ] = None,
    max_steps_wait: Annotated[
        int,
        typer.Option(
            help="End the program after this many backward passes without an optimizer step.", min=1
        ),
    ] = 100,
    save_trace: Annotated[
        Path | None, typer.Option(help="Write the recording to this file.", metavar="FILE")
    ] = None,
    from_trace: Annotated[
        Path | None, typer.Option(help="Judge a saved recording, without running anything.", metavar="FILE")
    ] = None,
    report_file: Annotated[
        Path | None,
        typer.Option("--report", help="Write the step as one HTML file to look at.", metavar="FILE"),
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(help="Write the timeline for ui.perfetto.dev to this file.", metavar="FILE"),
    ] = None,
    select: Select = None,
    ignore: Ignore = None,
    min_level: MinLevel = None,
    min_confidence: MinConfidence = None,
    output_format: FindingsAs = OutputFormat.text,
    output_file: OutputFile = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only findings.")] = False,
    exit_zero: ExitZero = False,
    own_rules: OwnRules = None,
    config: ConfigFile = None,
    cache_dir: CacheDir = None,
    no_cache: NoCache = False,
) -> None:
    """Run a training program, record one step of it, and confirm or refute the findings.

    Exits with 0 if all is clear, 1 with findings, 2 if nothing could be recorded, and 3 if the program failed.
    """
    with exit_codes():
        from trainlint.output.run_output import run_output
        from trainlint.run.running import RunRequest
        from trainlint.run.running import run as run_program

        program = _program(script or [], module, from_trace)
        for file in (output_file, report_file, timeline):
            if file is not None:
                check_writable(file)
        report, texts, outcome = run_program(
            RunRequest(
                program=program,
                from_trace=from_trace,
                save_trace=save_trace,
                steps=steps,
                max_wait=max_steps_wait,
                skip_steps=skip_steps,
                phase=phase,
                phase_seconds=phase_seconds,
                probes=_probes(probe),
                probe_seconds=probe_seconds,
                timeout=timeout,
                reports_here=output_file is None and output_format.is_a_document,
                config_file=config,
                select=separated(select),
                ignore=separated(ignore),
                min_level=min_level,
                min_confidence=min_confidence,
                cache_dir=cache_dir,
                cached=not no_cache,
                own_rules=own_rules,
            ),
            _say_waiting(quiet),
        )
        deliver(
            run_output(
                report,
                texts.lines,
                output_format,
                closed=not quiet,
                layout=Layout(None if output_file else columns(), whole=True),
            ),
            output_file,
        )
        if report_file is not None:
            from trainlint.html_report.page import page

            write_file(report_file, page(report, texts.lines))
        if timeline is not None and report.run is not None:
            from trainlint.output.perfetto import trace_events

            write_file(timeline, trace_events(report.run))
        if outcome.timed_out:
            complain(f"the program was ended by --timeout after {timeout:g} s")
        raise typer.Exit(_code(report, outcome, exit_zero))


def _program(script: list[str], module: str | None, from_trace: Path | None) -> Program | None:
    """What to run, from what stands on the command line."""
    from trainlint.run.traced_program import Program

    if from_trace is not None:
        if script or module:
            raise UsageError("--from-trace judges a recording, and cannot be combined with a program to run")
        return None
    if module is not None:
        return Program("module", module, tuple(script))
    if not script:
        raise UsageError("give a script, or a module with -m")
    if script[0].endswith(".ipynb"):
        raise UsageError(
            f"{script[0]} is a notebook: record a step in it with `from trainlint.trace import record`, or "
            "export it to a script"
        )
    return Program("script", script[0], tuple(script[1:]))


def _probes(asked: str | None) -> tuple[str, ...]:
    """The names of probes that stand on the command line."""
    from trainlint.facts.seen.tried import QUESTIONS

    names = separated([asked] if asked else None)
    if names == ("all",):
        return tuple(QUESTIONS)
    for name in names:
        if name not in QUESTIONS:
            raise UsageError(f"there is no probe {name}: choose from all, {', '.join(QUESTIONS)}")
    return names


def _say_waiting(quiet: bool) -> Callable[[str], None]:
    """Tells people at a terminal what the recording waits for."""
    if quiet or not sys.stderr.isatty():
        return lambda _: None
    return lambda text: write(f"trainlint: waiting for {text}\n", sys.stderr)


def _code(report: Report, outcome: Outcome, exit_zero: bool) -> int:
    from trainlint.facts.seen.tried import Tried

    run = report.run
    assert run is not None
    if outcome.interrupted:
        return INTERRUPTED
    if run.ended.how in ("failed", "exited") and run.ended.error:
        return PROGRAM_FAILED
    if report.standing or any(one.verdict == "failed" for phase in run.phases for one in phase.facts(Tried)):
        return CLEAN if exit_zero else FOUND
    if report.problems or not run.ending.trained:
        return FAILED
    return CLEAN


app.command(epilog=examples.COMPARE, short_help="Show what changed between two recordings.")(compare)
app.command(epilog=examples.EXPLAIN)(explain)
app.command(epilog=examples.RULES)(rules)
app.command("new-rule", epilog=examples.NEW_RULE, short_help="Write a rule of your own to start from.")(
    new_rule
)
app.command("test-rules", epilog=examples.TEST_RULES, short_help="Test rules of your own.")(test_rules)
app.command("config", epilog=examples.CONFIG)(show_config)
app.command(epilog=examples.DOCTOR, short_help="Say what is installed, in force, and not judged.")(doctor)
app.command()(schema)
app.command()(clean)
app.command(short_help="Run a language server for editors.")(server)
app.command(short_help="Run a server for coding agents.")(mcp)
