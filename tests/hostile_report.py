"""Reports of files and messages with everything that formats stumble over."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonschema import Draft7Validator, FormatChecker

from trainlint.check.analysis import Analysis, Source
from trainlint.finding import Because, Finding, Place, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conftest import Outcome, Trainlint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conftest import Outcome, Trainlint


OWN = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}


SCHEMA = json.loads((Path(__file__).parent / "schemas/sarif-2.1.0.json").read_text())


FILES = [
    "plain.py",
    "with space.py",
    "::error title=x::y.py",
    "comma,colon:percent%41.py",
    "<b>&amp;'\".py",
    "[link](x) {0}.py",
    "new\nline\r.py",
    "\x1b[31mred\x07.py",
    "\u202egnitrw.py",
    "é模.py",
    "]]>.py",
    os.fsdecode(b"latin\xe9.py"),
]


SOURCE = "tl101('<script>&amp;]]>', '::error::', '%0A', '\x1b[31m', '\x07\x0b', '\ufffe', '[a](b)', '{0}')  # é模\n"


MESSAGE = "`x['\x1b[31m']\n::set-output::` <b>&\u202e100%\r\x07\ufffe, [a](b) {0} {x} losses[0](y) é模"


def hostile_analysis(sources: Sequence[Source], **_: object) -> Analysis:
    findings, problems = [], []
    for source in sources:
        if source.path.startswith("broken"):
            problems.append(Problem(source.path, 1, MESSAGE))
        elif source.path != "first.py":
            because = Because(Place("first.py", 1, 1, 1, 9), MESSAGE)
            at = Place(source.path, 1, 1, 1, 6)
            findings.append(
                Finding(at, MESSAGE, (because,), "error", "TL101", "softmax-before-cross-entropy")
            )
    return Analysis(tuple(sorted(findings, key=lambda one: one.at)), tuple(problems), len(sources))


def report(trainlint: Trainlint, output_format: str, *arguments: str) -> Outcome:
    outcome = trainlint("check", "--output-format", output_format, *arguments)
    assert outcome.exit_code == 1, outcome.output
    assert outcome.stderr == ""
    return outcome


def sarif_of(text: str) -> Any:
    document = json.loads(text)
    Draft7Validator.check_schema(SCHEMA)
    errors = list(Draft7Validator(SCHEMA, format_checker=FormatChecker()).iter_errors(document))
    assert not errors, errors
    [run] = document["runs"]
    return run
