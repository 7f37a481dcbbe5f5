"""What the JSON of a check or a run consists of, as types: what is written is checked against them, and
`trainlint schema` is made of them."""

from __future__ import annotations

from typing import Any, TypedDict

from trainlint.finding import Applicability, Confidence, Level, Verdict


class BecauseJson(TypedDict):
    """A second place of a finding, and what is there."""

    path: str
    cell: int | None
    line: int
    column: int
    message: str


class EditJson(TypedDict):
    """Text of a file, and what stands in its place once it is fixed."""

    path: str
    cell: int | None
    line: int
    column: int
    end_line: int
    end_column: int
    replacement: str


class FixJson(TypedDict):
    """What mends a finding."""

    applicability: Applicability
    title: str
    edits: list[EditJson]


class FindingJson(TypedDict):
    """One thing that is wrong. Lines and columns start at 1; the end column is exclusive."""

    code: str
    name: str
    level: Level | None
    confidence: Confidence | None
    doubt: str | None
    message: str
    path: str
    cell: int | None
    line: int
    column: int
    end_line: int
    end_column: int
    subject: str | None
    because: list[BecauseJson]
    verdict: Verdict | None
    evidence: dict[str, Any]
    fix: FixJson | None
    suppressed: bool


class ErrorJson(TypedDict):
    """What could not be checked, and why."""

    path: str
    cell: int | None
    line: int | None
    message: str


class LimitJson(TypedDict):
    """A limit that the analysis reached in a function, and what was therefore not judged."""

    path: str
    entry: str
    limit: str
    not_judged: str


class NotJudgedJson(TypedDict):
    """A function of which nothing was judged."""

    path: str
    entry: str
    why: str


class WithheldJson(TypedDict):
    """How many findings there are that are not shown."""

    known: int | None
    gone: int
    unchanged: int | None
    imported: int
    unused: int


class SummaryJson(TypedDict):
    """Numbers of the whole report."""

    files: int
    seconds: float
    by_level: dict[str, int]
    by_confidence: dict[str, int]
    by_verdict: dict[str, int]
    fixed: int
    withheld: WithheldJson


class CheckJson(TypedDict):
    """The report of `trainlint check --output-format json`."""

    version: int
    findings: list[FindingJson]
    errors: list[ErrorJson]
    limits: list[LimitJson]
    not_judged: list[NotJudgedJson]
    summary: SummaryJson


class ReportJson(CheckJson, total=False):
    """The report of `trainlint check` or `trainlint run` with `--output-format json`."""

    run: dict[str, Any]
