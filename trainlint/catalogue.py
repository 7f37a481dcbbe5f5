"""What can be selected, ignored and explained: every rule, and the report of unused ignores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from trainlint.check.ignore import UNUSED_CODE, UNUSED_NAME
from trainlint.check.select import code_prefixes
from trainlint.finding import Confidence, Level
from trainlint.rules import entries


class Described(NamedTuple):
    """One line of the index of rules."""

    code: str
    name: str
    level: Level
    summary: str
    fixable: bool
    """Whether `--fix` knows what to write instead."""
    confidence: Confidence
    """How sure its findings are at most, as long as no run has confirmed them."""


def names() -> Mapping[str, str]:
    """Each code's name."""
    return {UNUSED_CODE: UNUSED_NAME, **{entry.code: entry.name for entry in entries()}}


def page(code: str) -> str:
    """The Markdown page about this code."""
    return page_file(code).read_text(encoding="utf-8")


def page_file(code: str) -> Path:
    """Where that page is."""
    if code == UNUSED_CODE:
        return Path(__file__).parent / "unused_ignore.md"
    return next(entry.folder / "README.md" for entry in entries() if entry.code == code)


def url(code: str) -> str | None:
    """Where that page is on the site: below the address that the package calls its documentation, if it names one."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        named = metadata("trainlint").get_all("Project-URL") or ()
    except PackageNotFoundError:
        return None
    for label, _, address in (one.partition(", ") for one in named):
        if label.lower() == "documentation":
            return f"{address.rstrip('/')}/rules/{code.lower()}/"
    return None


def level(code: str) -> Level:
    """How much a finding of this code matters, unless it says otherwise itself."""
    if code == UNUSED_CODE:
        return "warning"
    return next(entry.rule.level for entry in entries() if entry.code == code)


def confidence(code: str) -> Confidence:
    """How sure a finding of this code is at most, read from source."""
    return next((entry.rule.confidence for entry in entries() if entry.code == code), "certain")


def describe(code: str) -> Described:
    return Described(
        code, names()[code], level(code), _summary(page(code)), _is_fixable(code), confidence(code)
    )


def described(selected: Iterable[str] = ()) -> Iterator[Described]:
    """Everything there is, by code; or what these selectors stand for. Raises UsageError for a wrong one."""
    wanted = code_prefixes(selected, names(), "rules") or {""}
    return (describe(code) for code in names() if code.startswith(tuple(wanted)))


def _is_fixable(code: str) -> bool:
    return any(entry.is_fixable for entry in entries() if entry.code == code)


def _summary(markdown: str) -> str:
    """The first paragraph below a page's heading, on one line."""
    paragraphs = re.split(r"\n\s*\n", markdown.strip())
    return " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""
