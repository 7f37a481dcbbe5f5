"""A summary in Markdown, such as a job on GitHub shows: how often each rule found something, then the places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from trainlint.catalogue import url
from trainlint.finding import Finding
from trainlint.output.printable import printable
from trainlint.output.text import closing
from trainlint.report import Report

_MOST = 200
"""Findings that are listed; a summary may not be longer than a megabyte."""
_OPEN = 10
"""Findings that are seen without a click."""
_LEVELS = {"error": "🔴 error", "warning": "🟡 warning", "info": "🔵 info"}
_SPECIAL = re.compile(r"([\\<>&|\[\]*_#~])")


def markdown(report: Report) -> str:
    """Errors first, as they are read from above."""
    order = list(_LEVELS)
    found = sorted(report.standing, key=lambda one: order.index(one.level or "error"))
    return "\n".join([*_summary(found), *_places(found), *_problems(report), closing(report)])


def _summary(found: list[Finding]) -> Iterator[str]:
    yield "## trainlint\n"
    if not found:
        return
    yield "| rule | | level | findings |\n|---|---|---|---:|"
    rules = Counter((one.code, one.name, one.level or "error") for one in found)
    for (code, name, level), count in rules.items():
        where = url(code)
        shown = f"[{code}]({where})" if where else code
        yield f"| {shown} | {name} | {_LEVELS[level]} | {count} |"
    yield ""


def _places(found: list[Finding]) -> Iterator[str]:
    if not found:
        return
    folded = len(found) > _OPEN
    if folded:
        yield f"<details><summary>{len(found)} findings</summary>\n"
    yield "| where | rule | what is wrong |\n|---|---|---|"
    for one in found[:_MOST]:
        yield f"| {_plain(one.at.shown)} | {one.code} | {_message(one.message)} |"
    if len(found) > _MOST:
        yield f"\n{len(found) - _MOST} more are not listed."
    yield "\n</details>\n" if folded else ""


def _problems(report: Report) -> Iterator[str]:
    for one in report.problems:
        yield f"- {_plain(one.shown)}: {_plain(one.message)}"
    if report.problems:
        yield ""


def _message(text: str) -> str:
    """Code in backticks stays code; the rest is shown as it is."""
    parts = re.split(r"(`[^`]*`)", printable(text))
    return "".join(part.replace("|", "\\|") if part.startswith("`") else _escaped(part) for part in parts)


def _plain(text: str) -> str:
    return _escaped(printable(text))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text.replace("`", "\\`"))
