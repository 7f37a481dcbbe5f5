"""What `trainlint check` finds in code that others wrote, joined with what a reader said of each finding.

    python bench/precision.py CLONES --reports FOLDER              prints the tables of docs/precision.md
    python bench/precision.py CLONES --reports FOLDER --write      puts them into the page
    python bench/precision.py CLONES --reports FOLDER --unjudged   lists what nobody has judged yet

Each folder OWNER+NAME in CLONES is one repository, at the commit that docs/judgements.json names. A report that lies
in FOLDER is used as it is: delete it to have that repository checked again. Advice, the rules of level info, is
counted in the repositories of fewer than 20,000 lines.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import trees
from measured import trainlint

from trainlint.catalogue import described

_ROOT = Path(__file__).resolve().parent.parent
_JUDGED = _ROOT / "docs" / "judgements.json"
_PAGE = _ROOT / "docs" / "precision.md"
_SMALL = 20_000
"""Lines of a repository that is checked for advice too."""


class Found(NamedTuple):
    """A finding, as judgements name it; the path of one in a notebook ends in `#` and the cell's number."""

    repository: str
    path: str
    line: int
    code: str


class Report(NamedTuple):
    """One repository: its Python files, and what is found there."""

    repository: str
    files: int
    lines: int
    unreadable: int
    findings: list[Found]
    advice: list[str]
    """The codes of findings at level info."""


class Tally(NamedTuple):
    """How many findings there are, how many were read, and how many of these are right."""

    found: int
    read: int
    right: int

    def __str__(self) -> str:
        return f"{self.found} | {self.read} | {self.right} | {self.read - self.right}"


class Judged:
    """docs/judgements.json."""

    def __init__(self, file: Path) -> None:
        kept = json.loads(file.read_text(encoding="utf-8"))
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

    def tally(self, findings: Iterable[Found]) -> Tally:
        verdicts = [self.verdict(found) for found in findings]
        return Tally(len(verdicts), len(verdicts) - verdicts.count(None), verdicts.count("right"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--reports", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--unjudged", action="store_true")
    given = parser.parse_args()
    judged = Judged(_JUDGED)
    clones = [given.clones / name.replace("/", "+", 1) for name in sorted(judged.commits, key=str.lower)]
    reports = [_report(clone, given.reports) for clone in clones]
    findings = [found for report in reports for found in report.findings]
    if given.unjudged:
        for found in findings:
            if judged.verdict(found) is None:
                print(f"{found.repository} {found.path}:{found.line} {found.code}")
        return
    small = [
        _report(clone, given.reports / "advice", "--select", "ALL")
        for clone, report in zip(clones, reports, strict=True)
        if report.lines < _SMALL
    ]
    tables = {
        "total": _total(reports, judged),
        "repositories": _by_repository(reports, judged),
        "rules": _by_rule(findings, judged),
        "wrong": _wrong(findings, judged),
        "silent": _silent(findings, judged),
        "advice": _advice(small),
    }
    if given.write:
        _PAGE.write_text(_filled(_PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
    else:
        print("\n\n".join(tables.values()))


def _report(clone: Path, kept: Path, *selection: str) -> Report:
    file = kept / f"{clone.name}.json"
    if not file.exists():
        kept.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(".part").resolve()
        check = trainlint(
            "check", "--no-cache", "-q", "--output-format", "json", "--output-file", str(unfinished)
        )
        surroundings = {**os.environ, "PYTHONPATH": str(_ROOT)}
        subprocess.run([*check, *selection, "."], cwd=clone, env=surroundings, check=False)
        unfinished.rename(file)
    told = json.loads(file.read_text(encoding="utf-8"))
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


def _found(repository: str, finding: Mapping[str, Any]) -> Found:
    cell = f"#{finding['cell']}" if finding["cell"] else ""
    return Found(repository, finding["path"] + cell, finding["line"], finding["code"])


def _place(place: str) -> tuple[str, int]:
    path, _, line = place.rpartition(":")
    return path, int(line)


def _total(reports: Sequence[Report], judged: Judged) -> str:
    tally = judged.tally(found for report in reports for found in report.findings)
    lines = sum(report.lines for report in reports)
    return (
        f"**{tally.right} of {tally.read} findings that were read are right ({tally.right / tally.read:.1%}), of "
        f"{tally.found} in all, over {lines:,} lines in {len(reports)} repositories.**"
    )


def _by_repository(reports: Sequence[Report], judged: Judged) -> str:
    rows = [
        "| repository | commit | files | lines | findings | read | right | wrong | unreadable |",
        "|---|---|" + "---:|" * 7,
    ]
    for one in reports:
        rows.append(
            f"| {one.repository} | `{judged.commits[one.repository]}` | {one.files:,} | {one.lines:,} "
            f"| {judged.tally(one.findings)} | {one.unreadable} |"
        )
    return "\n".join(rows)


def _by_rule(findings: Sequence[Found], judged: Judged) -> str:
    rows = [
        "| rule | name | repositories | findings | read | right | wrong |",
        "|---|---|" + "---:|" * 5,
    ]
    for code, name in _names("error", "warning").items():
        these = [found for found in findings if found.code == code]
        if these:
            where = len({found.repository for found in these})
            rows.append(f"| {code} | {name} | {where} | {judged.tally(these)} |")
    return "\n".join(rows)


def _wrong(findings: Sequence[Found], judged: Judged) -> str:
    rows = []
    for found in sorted(findings, key=lambda one: (one.code, one.repository)):
        why = judged.verdict(found)
        if why not in (None, "right"):
            rows.append(f"- {found.code} in {found.repository}, `{found.path}:{found.line}`: {why}")
    return "\n".join(rows)


def _silent(findings: Sequence[Found], judged: Judged) -> str:
    loud = {found.code for found in findings}
    rows = ["| rule | name | why |", "|---|---|---|"]
    for code, name in _names("error", "warning").items():
        if code not in loud:
            rows.append(f"| {code} | {name} | {judged.silent.get(code, '')} |")
    return "\n".join(rows)


def _advice(reports: Sequence[Report]) -> str:
    counts = Counter(code for report in reports for code in report.advice)
    rows = [f"In the {len(reports)} repositories of fewer than {_SMALL:,} lines:", ""]
    rows += ["| rule | name | repositories | findings |", "|---|---|---:|---:|"]
    for code, name in _names("info").items():
        where = sum(code in report.advice for report in reports)
        rows.append(f"| {code} | {name} | {where} | {counts[code]} |")
    return "\n".join(rows)


def _names(*levels: str) -> dict[str, str]:
    return {rule.code: rule.name for rule in described() if rule.level in levels}


def _filled(page: str, tables: Mapping[str, str]) -> str:
    """The page, with what stands between `<!-- NAME -->` and `<!-- end -->` replaced."""

    def table(mark: re.Match[str]) -> str:
        return f"<!-- {mark[1]} -->\n{tables[mark[1]]}\n<!-- end -->"

    return re.sub(r"(?s)<!-- (\w+) -->\n.*?<!-- end -->", table, page)


if __name__ == "__main__":
    main()
