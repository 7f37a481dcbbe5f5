"""What `trainlint check` finds in code that others wrote, joined with what a reader said of each finding.

    python bench/precision.py CLONES --reports FOLDER            prints the tables of docs/precision.md
    python bench/precision.py CLONES --reports FOLDER --write    puts them into the page
    python bench/precision.py CLONES --reports FOLDER --unjudged lists what nobody has judged yet

Each folder OWNER+NAME in CLONES is one repository at the commit that docs/judgements.json names. A report that lies
in FOLDER already is used as it is: delete it to check that repository again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import trees
from measured import trainlint

_ROOT = Path(__file__).resolve().parent.parent
_JUDGED = _ROOT / "docs" / "judgements.json"
_PAGE = _ROOT / "docs" / "precision.md"


class Found(NamedTuple):
    """A finding, as judgements name it."""

    repository: str
    path: str
    line: int
    code: str


class Report(NamedTuple):
    """One repository: its size, and what was found there."""

    repository: str
    files: int
    lines: int
    unreadable: int
    findings: list[Found]
    advice: list[str]
    """The codes of findings at level info."""


class Judged:
    """docs/judgements.json."""

    def __init__(self, file: Path) -> None:
        kept = json.loads(file.read_text())
        self.commits: dict[str, str] = kept["commits"]
        self.silent: dict[str, str] = kept["silent"]
        self._verdicts: dict[Found, str] = {
            Found(repository, *_place(place), code): verdict
            for repository, codes in kept["findings"].items()
            for code, places in codes.items()
            for place, verdict in places.items()
        }

    def verdict(self, found: Found) -> str | None:
        """`right`, or why it is wrong; none if nobody has read it."""
        return self._verdicts.get(found)


class Tally(NamedTuple):
    """How many were found, read and right."""

    found: int
    read: int
    right: int

    @property
    def wrong(self) -> int:
        return self.read - self.right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--reports", type=Path, required=True)
    parser.add_argument("--select", help="these rules instead of the default selection, as `check` takes them")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--unjudged", action="store_true")
    given = parser.parse_args()
    clones = sorted((one for one in given.clones.iterdir() if one.is_dir()), key=lambda one: one.name.lower())
    given.reports.mkdir(parents=True, exist_ok=True)
    reports = [_report(clone, given.reports, given.select) for clone in clones]
    judged = Judged(_JUDGED)
    if given.unjudged:
        for found in (found for report in reports for found in report.findings):
            if judged.verdict(found) is None:
                print(f"{found.repository} {found.path}:{found.line} {found.code}")
        return
    tables = {
        "total": _total(reports, judged),
        "repositories": _by_repository(reports, judged),
        "rules": _by_rule(reports, judged),
        "wrong": _wrong(reports, judged),
        "silent": _silent(reports, judged),
    }
    if given.write:
        _PAGE.write_text(_filled(_PAGE.read_text(), tables))
    else:
        print("\n\n".join(tables.values()))


def _report(clone: Path, kept: Path, select: str | None) -> Report:
    file = kept / f"{clone.name}.json"
    if not file.exists():
        command = trainlint("check", "--no-cache", "--output-format", "json", *(("--select", select) if select else ()))
        with file.with_suffix(".part").open("wb") as report:
            subprocess.run(
                [*command, "."], cwd=clone, env={**os.environ, "PYTHONPATH": str(_ROOT)}, stdout=report, check=False
            )
        file.with_suffix(".part").rename(file)
    told = json.loads(file.read_text())
    sources = trees.python_files(clone)
    repository = clone.name.replace("+", "/", 1)
    shown = [finding for finding in told["findings"] if not finding["suppressed"]]
    return Report(
        repository,
        len(sources),
        sum(map(trees.lines, sources)),
        len(told["errors"]),
        [_found(repository, one) for one in shown if one["level"] != "info"],
        [one["code"] for one in shown if one["level"] == "info"],
    )


def _found(repository: str, finding: dict[str, Any]) -> Found:
    return Found(repository, finding["path"], finding["line"], finding["code"])


def _place(place: str) -> tuple[str, int]:
    path, _, line = place.rpartition(":")
    return path, int(line)


def _tally(findings: Iterable[Found], judged: Judged) -> Tally:
    verdicts = [judged.verdict(found) for found in findings]
    return Tally(len(verdicts), sum(one is not None for one in verdicts), verdicts.count("right"))


def _total(reports: Sequence[Report], judged: Judged) -> str:
    tally = _tally((found for report in reports for found in report.findings), judged)
    lines = sum(report.lines for report in reports)
    return (
        f"**{tally.right} of the {tally.read} findings that were read are right ({tally.right / max(tally.read, 1):.1%}); "
        f"{tally.found} findings in {len(reports)} repositories, {lines:,} lines.**"
    )


def _by_repository(reports: Sequence[Report], judged: Judged) -> str:
    rows = ["| repository | commit | files | lines | findings | read | right | wrong | unreadable |", "|---|---|" + "---:|" * 7]
    for report in reports:
        tally = _tally(report.findings, judged)
        commit = judged.commits.get(report.repository, "")
        rows.append(
            f"| {report.repository} | `{commit}` | {report.files:,} | {report.lines:,} | {tally.found} | {tally.read} "
            f"| {tally.right} | {tally.wrong} | {report.unreadable} |"
        )
    return "\n".join(rows)


def _by_rule(reports: Sequence[Report], judged: Judged) -> str:
    rows = ["| rule | name | findings | repositories | read | right | wrong |", "|---|---|" + "---:|" * 5]
    findings = [found for report in reports for found in report.findings]
    for code, name in _rules(("error", "warning")):
        these = [found for found in findings if found.code == code]
        if these:
            tally = _tally(these, judged)
            where = len({found.repository for found in these})
            rows.append(
                f"| {code} | {name} | {tally.found} | {where} | {tally.read} | {tally.right} | {tally.wrong} |"
            )
    return "\n".join(rows)


def _wrong(reports: Sequence[Report], judged: Judged) -> str:
    rows = []
    for found in sorted((found for report in reports for found in report.findings), key=lambda one: one.code):
        verdict = judged.verdict(found)
        if verdict not in (None, "right"):
            rows.append(f"- {found.code} in {found.repository}, `{found.path}:{found.line}`: {verdict}.")
    return "\n".join(rows)


def _silent(reports: Sequence[Report], judged: Judged) -> str:
    loud = {found.code for report in reports for found in report.findings}
    rows = ["| rule | name | why |", "|---|---|---|"]
    for code, name in _rules(("error", "warning")):
        if code not in loud:
            rows.append(f"| {code} | {name} | {judged.silent.get(code, '')} |")
    return "\n".join(rows)


def _rules(levels: Sequence[str]) -> list[tuple[str, str]]:
    sys.path.insert(0, str(_ROOT))
    from trainlint.catalogue import described

    return [(rule.code, rule.name) for rule in described() if rule.level in levels]


def _filled(page: str, tables: dict[str, str]) -> str:
    """The page, with what stands between `<!-- NAME -->` and `<!-- end -->` replaced."""
    for name, table in tables.items():
        page = re.sub(rf"(?s)(<!-- {name} -->\n).*?(\n<!-- end -->)", lambda kept, new=table: f"{kept[1]}{new}{kept[2]}", page)
    return page


if __name__ == "__main__":
    main()
