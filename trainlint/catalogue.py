"""What can be selected, ignored and explained: every rule, and the report of unused ignores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from trainlint.check.ignore import UNUSED_CODE, UNUSED_NAME
from trainlint.check.select import code_prefixes
from trainlint.finding import Confidence, Level
from trainlint.rules import all_entries, entries, left_out

_MARK = re.compile(r"(?<=  )# error\b.*$", re.MULTILINE)
_SEEN = re.compile(r"^What you see:\n\n((?:- .*\n)+)", re.MULTILINE)


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
    """The name of each code that a finding may have."""
    return {UNUSED_CODE: UNUSED_NAME, **{entry.code: entry.name for entry in entries()}}


def known() -> Mapping[str, str]:
    """The name of each code that people may speak of: those of rules that are there, and do not run, too."""
    return {**names(), **left_out()}


def code_of(rule: str, among: Mapping[str, str]) -> str | None:
    """The code of what people call a rule: its code or its name."""
    return next((code for code, name in among.items() if rule.lower() in (code.lower(), name)), None)


def page(code: str) -> str:
    """The Markdown page about this code, with the code where its examples are wrong: a test wants more to stand there."""
    own = next((entry for entry in all_entries() if entry.code == code), None)
    text = page_file(code).read_text(encoding="utf-8") if own is None else own.page
    return _MARK.sub(f"# {code}", text)


def page_file(code: str) -> Path:
    """Where that page is."""
    if code == UNUSED_CODE:
        return Path(__file__).parent / "unused_ignore.md"
    return next(entry.folder / "README.md" for entry in all_entries() if entry.code == code)


def url(code: str) -> str | None:
    """Where that page is on the site: below the address that the package calls its documentation, if it names one."""
    from importlib.metadata import PackageNotFoundError, metadata

    if any(entry.code == code and entry.brought is not None for entry in all_entries()):
        return None
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
    wanted = code_prefixes(selected, known(), "rules") or {""}
    return (describe(code) for code in names() if code.startswith(tuple(wanted)))


def symptoms(code: str) -> list[str]:
    """What people see who have it, as the page says at its top."""
    found = _SEEN.search(page(code).partition("\n## ")[0] + "\n")
    return [one.removeprefix("- ") for one in found[1].splitlines()] if found else []


def _is_fixable(code: str) -> bool:
    return any(entry.is_fixable for entry in entries() if entry.code == code)


def _summary(markdown: str) -> str:
    """The first paragraph below a page's heading, on one line."""
    paragraphs = re.split(r"\n\s*\n", markdown.strip())
    return " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else ""
