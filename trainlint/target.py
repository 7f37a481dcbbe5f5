"""Which versions of torch a project is for: what its configuration says, or its own list of dependencies."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from trainlint.dependencies import requirements
from trainlint.finding import Finding, Version

NEWEST: Version = (2, 13)
"""The newest torch that rules know: what a project that names no version is taken to be for."""

_REQUIREMENT = re.compile(
    r"^\s*[\"']?torch\s*(?:\[[^]]*\]\s*)?(?![\w.-])(?P<versions>[^;#@]*)", re.IGNORECASE
)
_BOUND = re.compile(r"(?P<sign>===|==|~=|>=|<=|!=|<|>|\^|~)?\s*(?P<version>\d+(?:\.\d+)*)")

_VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:(?:a|b|rc|\.?dev|\.?post)\d*)*(?:\+[\w.]+)?")


@dataclass(frozen=True)
class Target:
    """The oldest and the newest torch that a project has to run with."""

    oldest: Version = NEWEST
    newest: Version = NEWEST

    def concerns(self, finding: Finding) -> bool:
        """Whether a finding matters to the project."""
        of = finding.torch
        if of is None or (of.gone is not None and self.newest >= of.gone):
            return True
        return (of.since or ()) <= self.oldest and (of.before is None or self.oldest < of.before)


def version(text: str) -> Version:
    """`2.4.1+cu121` as numbers. Raises ValueError."""
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a version")
    return _numbers(found[1])


def target_near(start: Path) -> Target:
    """What the dependencies of the project say that a folder belongs to: the nearest list that names torch, up to the
    root of the checkout."""
    for folder in (start, *start.parents):
        for line in requirements(folder):
            found = _REQUIREMENT.match(line)
            if found is not None:
                return _target(found["versions"])
        if (folder / ".git").exists():
            break
    return Target()


def _target(text: str) -> Target:
    """`>=1.8,<2.3`, `==2.4.*`, `^2.1`: the bounds that it sets."""
    oldest: Version | None = None
    newest: Version | None = None
    for found in _BOUND.finditer(text):
        sign, bound = found["sign"] or "==", _numbers(found["version"])
        if sign in ("==", "==="):
            return Target(bound, bound)
        if sign in (">=", ">", "~=", "^", "~"):
            oldest = bound
        if sign in ("<", "<="):
            newest = bound if sign == "<=" else _before(bound)
    newest = newest or max(NEWEST, oldest or NEWEST)
    return Target(oldest or min(NEWEST, newest), newest)


def _before(bound: Version) -> Version:
    """A version that is certainly below a bound, and above all earlier ones."""
    *first, last = bound
    return (
        (*first, last - 1, sys.maxsize) if last else (*_before(tuple(first)), sys.maxsize) if first else (0,)
    )


def _numbers(text: str) -> Version:
    return tuple(int(one) for one in text.split("."))
