"""What an agent can ask for. Each answer is text; what cannot be done is a UsageError that says why."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from trainlint.agents.answers import answer
from trainlint.catalogue import code_of, known, page
from trainlint.check.checking import Request, run_check
from trainlint.check.select import nearest_rule
from trainlint.cli.fix_report import diffs, written
from trainlint.cli.rules_here import bring_rules_here
from trainlint.errors import UsageError
from trainlint.fixing.proposals import with_fixes
from trainlint.fixing.rounds import fixed
from trainlint.notebook.in_cells import in_cells
from trainlint.project.source_texts import SourceTexts
from trainlint.report import Report

Asked = ParamSpec("Asked")
_SECONDS = 600
"""How long a program may run that is recorded."""
_one_at_a_time = threading.Lock()


def _alone(tool: Callable[Asked, str]) -> Callable[Asked, str]:
    """Tools share what rules there are, and the cache: one is done after the other."""

    @wraps(tool)
    def waiting(*args: Asked.args, **kwargs: Asked.kwargs) -> str:
        with _one_at_a_time:
            return tool(*args, **kwargs)

    return waiting


@_alone
def check(paths: list[str] | None = None, select: list[str] | None = None) -> str:
    """Find what silently breaks PyTorch training, from source alone: nothing is run or imported.

    Files are read together with the modules that they import, so name a folder or the training script. Each finding has
    its place, why it is one, the other places that show it, and a fix where there is one.

    Args:
        paths: files and folders; the working directory if there are none.
        select: only these rules: codes, prefixes of codes such as TL3, or names.
    """
    report, texts = run_check(_request(paths, select))
    findings, problems = with_fixes(report.findings, texts.raw)
    report = replace(report, findings=tuple(findings), problems=(*report.problems, *problems))
    return answer(in_cells(report, texts))


@_alone
def explain(rule: str) -> str:
    """What a rule finds, why that is bad, what to write instead, and what it does not see.

    Args:
        rule: its code, such as TL101, or its name.
    """
    bring_rules_here()
    code = code_of(rule, known())
    if code is None:
        raise UsageError(f"no rule is called `{rule}`{nearest_rule(rule, known())}")
    return page(code)


@_alone
def fix(
    paths: list[str] | None = None,
    select: list[str] | None = None,
    unsafe: bool = False,
    write: bool = False,
) -> str:
    """Fix what `check` finds: the changes as a diff, and only with `write` in the files.

    Args:
        paths: as for `check`.
        select: as for `check`.
        unsafe: also fixes that change what the program does, or may; read them.
        write: change the files.
    """
    request = _request(paths, select)

    def again(texts: Mapping[str, bytes]) -> tuple[Report, SourceTexts]:
        return run_check(replace(request, texts=texts))

    result = fixed(again, unsafe=unsafe, writes=write)
    problems = written(result.files) if write else []
    said = "".join(diffs(result.files)) or "Nothing can be fixed.\n"
    wrong = [f"not fixed: {one.shown}: {one.message}\n" for one in (*problems, *result.report.problems)]
    return said + "".join(wrong)


@_alone
def run(script: str, arguments: list[str] | None = None, steps: int = 1) -> str:
    """Run a training program until it has made a step, record that, and say what it confirms, refutes and shows.

    This runs the program with all that it does. Its own output is left out. It needs PyTorch beside trainlint.

    Args:
        script: the Python file to run.
        arguments: what it is given on its command line.
        steps: how many optimizer steps to record.
    """
    with tempfile.TemporaryDirectory(prefix="trainlint-") as scratch:
        report = Path(scratch) / "report.txt"
        command = [sys.executable, "-m", "trainlint", "run", "--steps", str(max(steps, 1))]
        command += ["--timeout", str(_SECONDS), "--output-file", str(report)]
        ran = subprocess.run(
            [*command, "--", script, *(arguments or [])],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        said = report.read_text(encoding="utf-8", errors="replace") if report.exists() else ""
    return f"exit code {ran.returncode}\n{_last(said or ran.stderr)}"


def _request(paths: Sequence[str] | None, select: Sequence[str] | None) -> Request:
    return Request(tuple(paths or ["."]), select=tuple(select or ()), quiet=True)


def _last(text: str, most: int = 20_000) -> str:
    """The end of what was said, where the report stands."""
    return text if len(text) <= most else f"...{text[-most:]}"
