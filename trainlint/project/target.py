"""Which versions of torch a project is for: what its configuration says, or what its files install."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from trainlint.finding import Finding, Version
from trainlint.project.dependencies import instructions, requirements

NEWEST: Version = (2, 13)
"""The newest torch that rules know: what a project that names no version is taken to be for."""

_REQUIREMENT = re.compile(
    r"^\s*[\"']?torch\s*(?:\[[^]]*\]\s*)?(?![\w.-])(?P<versions>[^;#@]*)", re.IGNORECASE
)
_WHEEL = re.compile(r"(?:^|[\s@/])torch-(?P<version>\d+(?:\.\d+)+)[^\s/]*\.whl\b")
"""`torch @ https://…/torch-1.10.0%2Bcu113-cp39-cp39-linux_x86_64.whl`, or the address alone."""
_BOUND = re.compile(r"(?P<sign>===|==|~=|>=|<=|!=|<|>|\^|~)?\s*(?P<version>\d+(?:\.\d+)*)[\w.+*-]*")

VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:(?:a|b|rc|\.?dev|\.?post)\d*)*(?:\+[\w.]+)?")


@dataclass(frozen=True)
class Target:
    """The oldest and the newest torch that a project has to run with, and the oldest that it runs with if it is installed
    today, where that is another one: of a list for pip without an upper bound that is the newest."""

    oldest: Version = NEWEST
    newest: Version = NEWEST
    installed: Version | None = None

    def concerns(self, finding: Finding) -> bool:
        """Whether a finding matters to the project."""
        of = finding.torch
        if of is None or (of.gone is not None and self.newest >= of.gone):
            return True
        return (of.since or ()) <= self.oldest and (
            of.before is None or (self.installed or self.oldest) < of.before
        )


def version(text: str) -> Version:
    """`2.4.1+cu121` as numbers. Raises ValueError."""
    found = VERSION.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a version")
    return _numbers(found[1])


def target_near(start: Path) -> Target:
    """What the project says that a folder belongs to: the nearest folder, up to the root of the checkout, whose files name
    a version of torch.

    Its own list of dependencies comes first. Where that names torch and no version, or nothing, the images that it is built
    on count, what its workflows install and what its README says; of several versions the oldest and the newest.
    """
    for folder in (start, *start.parents):
        listed = [
            (versions, of_package)
            for line, of_package in requirements(folder)
            for versions in _versions(line)
        ]
        for versions, of_package in listed:
            if versions:
                found = _target(versions)
                is_open = not of_package and found.newest != found.oldest
                return replace(found, installed=found.newest) if is_open else found
        told = [_target(one) for line in instructions(folder) for one in _versions(line) if one]
        if told:
            return Target(min(one.oldest for one in told), max(one.newest for one in told))
        if listed or (folder / ".git").exists():
            break
    return Target()


def _versions(line: str) -> Iterator[str]:
    """What a requirement says of torch; an empty text for any version."""
    wheel = _WHEEL.search(line)
    if wheel is not None:
        yield f"=={wheel['version']}"
    elif (found := _REQUIREMENT.match(line)) is not None:
        yield found["versions"].strip() if _BOUND.search(found["versions"]) else ""


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
        elif sign in ("~=", "~", "^"):
            newest = max(bound, min(NEWEST, _before(_next(sign, bound))))
    newest = newest or max(NEWEST, oldest or NEWEST)
    return Target(oldest or min(NEWEST, newest), newest)


def _next(sign: str, bound: Version) -> Version:
    """The first version that is no longer compatible: `~=1.7.1` and `~1.7` end before 1.8, `^1.7` and `~=1.7` before 2."""
    kept = 1 if sign == "^" else max(len(bound) - 1, 1) if sign == "~=" else min(len(bound), 2)
    return (*bound[: kept - 1], bound[kept - 1] + 1)


def _before(bound: Version) -> Version:
    """A version that is certainly below a bound, and above all earlier ones."""
    *first, last = bound
    return (
        (*first, last - 1, sys.maxsize) if last else (*_before(tuple(first)), sys.maxsize) if first else (0,)
    )


def _numbers(text: str) -> Version:
    return tuple(int(one) for one in text.split("."))
