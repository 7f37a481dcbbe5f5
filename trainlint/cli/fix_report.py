"""`check` with `--fix` or `--diff`: what is written, what is shown, and the exit code."""

from __future__ import annotations

import difflib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from trainlint.check.checking import Request, run_check, stdin_name
from trainlint.cli.check_report import View, write_report
from trainlint.cli.exits import CLEAN, FAILED, FOUND
from trainlint.errors import UsageError
from trainlint.finding import Problem
from trainlint.fixing.proposals import with_fixes
from trainlint.fixing.rounds import ROUNDS, Fixed, FixedFile, fixed
from trainlint.fixing.text import editable
from trainlint.output.delivery import deliver
from trainlint.output.problems import problem_lines
from trainlint.output.style import Piece
from trainlint.output.writing import write, write_bytes, write_pieces, write_raw
from trainlint.project.source_texts import SourceTexts
from trainlint.report import Fixable, Report


def fix_and_report(request: Request, view: View) -> int:
    """Fix, write the files, and report what is left. Standard input is written to standard output."""
    if request.changed_since is not None:
        return _fix_changes(request, view)
    result = _fixed(request, unsafe=view.unsafe, writes=True)
    name = stdin_name(request)
    report, texts = result.report, result.texts
    problems = written({path: file for path, file in result.files.items() if path != name})
    if problems:  # what was to be is not what is
        given = {name: texts.raw(name)} if name in texts.given else {}
        report, texts = _checked(replace(request, texts=given))
    counts = _counts(result.files, problems)
    report = replace(report, fixed=counts, fixable=_fixable(report), problems=(*report.problems, *problems))
    if name not in texts.given:
        return write_report(report, texts, view)
    write_raw(texts.raw(name), sys.stdout)
    return write_report(report, texts, view, to=sys.stderr)


def _fix_changes(request: Request, view: View) -> int:
    """Fix what is on changed lines. Which those are is looked up on disk, so each pass is written there."""
    counts: dict[str, Counter[str]] = {}
    for _ in range(ROUNDS):
        result = _fixed(request, unsafe=view.unsafe, writes=True, once=True)
        report, texts = result.report, result.texts
        problems = written(result.files)
        for path, more in _counts(result.files, problems).items():
            counts[path] = counts.get(path, Counter()) + more
        if problems:
            report, texts = _checked(request)
        if problems or not result.files:
            break
    report = replace(report, fixed=counts, fixable=_fixable(report), problems=(*report.problems, *problems))
    return write_report(report, texts, view)


def _checked(request: Request) -> tuple[Report, SourceTexts]:
    """What is found in files as they are, with what could be fixed."""
    report, texts = run_check(request)
    findings, problems = with_fixes(report.findings, texts.raw)
    return replace(report, findings=tuple(findings), problems=(*report.problems, *problems)), texts


def _counts(files: Mapping[str, FixedFile], problems: Iterable[Problem]) -> dict[str, Counter[str]]:
    """What is fixed in the files that have been written."""
    unwritten = {problem.path for problem in problems}
    return {path: file.counts for path, file in files.items() if path not in unwritten}


def show_fixes(request: Request, view: View) -> int:
    """Write what fixes would change as a diff, and nothing else. FOUND if there is anything."""
    if not view.output_format.is_for_people or view.counted:
        raise UsageError("--diff cannot be combined with --output-format or --statistics")
    once = request.changed_since is not None
    result = _fixed(request, unsafe=view.unsafe, writes=False, once=once)
    problems = map(result.texts.located_problem, result.report.problems)
    write_pieces(problem_lines(problems), sys.stderr)
    deliver((Piece(line) for line in diffs(result.files)), view.output_file)
    if not view.quiet:
        files = "1 file" if len(result.files) == 1 else f"{len(result.files)} files"
        said = f"Would fix {result.count} in {files}." if result.files else "Nothing would be fixed."
        more = _fixable(result.report).unsafe if not view.unsafe else 0
        also = f" {more} more can be with --unsafe-fixes." if more and result.files else ""
        only = f" {more} can be with --unsafe-fixes." if more and not result.files else ""
        write(f"{said}{also or only}\n", sys.stderr)
    if result.report.problems:
        return FAILED
    return FOUND if result.files and not view.exit_zero else CLEAN


def _fixable(report: Report) -> Fixable:
    """What is left for another go with other options."""
    kinds = [one.fix.applicability for one in report.within_reach if one.fix is not None]
    return Fixable(kinds.count("safe"), kinds.count("unsafe"))


def _fixed(request: Request, *, unsafe: bool, writes: bool, once: bool = False) -> Fixed:
    if request.write_baseline:
        raise UsageError(
            "--write-baseline cannot be combined with --fix or --diff: fix first, then write the baseline"
        )

    with _kept_between_rounds(request) as kept:

        def check(texts: Mapping[str, bytes]) -> tuple[Report, SourceTexts]:
            return run_check(replace(kept, texts=texts))

        return fixed(check, unsafe=unsafe, writes=writes, once=once)


@contextmanager
def _kept_between_rounds(request: Request) -> Iterator[Request]:
    """The request, with a cache, so that a round evaluates only what the one before has changed."""
    with ExitStack() as stack:
        if not request.cached:
            with suppress(OSError):  # where there is no room for one, everything is evaluated again
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="trainlint-"))
                request = replace(request, cached=True, cache_dir=Path(folder))
        yield request


def written(files: Mapping[str, FixedFile]) -> list[Problem]:
    """Write files, unless somebody else has changed them meanwhile; those that could not be written."""
    problems = []
    for path, file in sorted(files.items()):
        try:
            now = Path(path).read_bytes()
            if now == file.after:  # by another name
                continue
            if now != file.before:
                raise UsageError("it was changed by another program meanwhile")
            write_bytes(Path(path), file.after)
        except (OSError, UsageError) as error:
            said = str(error).removeprefix(f"{path}: ")
            problems.append(Problem(path, None, f"is not fixed: {said}"))
    return problems


def diffs(files: Mapping[str, FixedFile]) -> Iterator[str]:
    """What was changed, line by line."""
    for path, file in sorted(files.items()):
        before, after = (editable(path, content).parts for content in (file.before, file.after))
        for (name, old), (_, new) in zip(before, after, strict=True):
            for line in difflib.unified_diff(old, new, name, name):
                yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
