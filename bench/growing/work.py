"""How much work it is to check a program: what is counted, and not what the clock says."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType

from trainlint.check.analysis import Source, analyse
from trainlint.finding import Problem

from .program import Program

_SAMPLED = 509
"""One of so many calls is looked at, to say where the work is done; a prime, so that no loop keeps step with it."""


class TooMuchWork(BaseException):
    """A check was given up. No `Exception`: the engine makes reports of those."""


class _Calls:
    """Counts the calls of Python functions, and ends the program at the limit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.made = 0
        self.where: Counter[CodeType] = Counter()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        self.made += 1
        if self.made % _SAMPLED == 0:
            self.where[frame.f_code] += 1
        self.check()

    def check(self) -> None:
        if self.made > self._most:
            raise TooMuchWork(", ".join(_named(code) for code, _ in self.where.most_common(3)))


def _named(code: CodeType) -> str:
    return f"{Path(code.co_filename).stem}.{code.co_name}"


def check(program: Program) -> Sequence[Problem]:
    """Check a program, none of it known before. What could not be followed."""
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        for path, text in program.files.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            sources.append(Source(str(file)))
        return analyse(sources, jobs=1).problems


def work_of(program: Program, most: int) -> int:
    """How many functions are called to check a program.

    Raises TooMuchWork beyond `most`, with the functions that are called most, and ValueError for a program that
    cannot be followed.
    """
    calls = _Calls(most)
    sys.settrace(calls)  # a function that watches calls alone, and no lines
    try:
        problems = check(program)
    finally:
        sys.settrace(None)
    calls.check()  # Python drops an exception where nobody can catch it, in a finalizer, say
    if problems:
        raise ValueError(problems[0].message)
    return calls.made
