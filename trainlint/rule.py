"""What a rule is: a pure function that is handed one kind of fact, and yields findings and what it cannot decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from trainlint.finding import Confidence, Finding, Level, Open

Fact = TypeVar("Fact")
Check = Callable[[Fact], Iterator[Finding | Open]]
Producers = Literal["S", "T", "S+T"]


@dataclass(frozen=True)
class Rule(Generic[Fact]):
    """A check over every fact of one type in a program."""

    fact: type[Fact]
    check: Check[Fact]
    level: Level
    refutable: bool = True
    by: Producers = "S+T"
    steps: int = 1
    confidence: Confidence = "certain"
    words: str = ""
    covered_by: str = ""
    absence: bool = False
    costs: bool = False
    explained_by: str = ""
    commented_out: str = ""


def rule(
    fact: type[Fact],
    *,
    level: Level,
    refutable: bool = True,
    by: Producers = "S+T",
    steps: int = 1,
    confidence: Confidence = "certain",
    words: str = "",
    covered_by: str = "",
    absence: bool = False,
    costs: bool = False,
    explained_by: str = "",
    commented_out: str = "",
) -> Callable[[Check[Fact]], Rule[Fact]]:
    """Make a generator of findings and openings into a rule that is handed every `fact` of the program.

    Args:
        refutable: whether a run that comes by and shows nothing proves a finding wrong. It does not where the
            rule speaks of other machines, or of later versions of torch.
        by: what its facts come from: the source (`S`), a trace of a run (`T`), or both.
        steps: how many steps of a run have to be recorded before it can say anything.
        confidence: how sure what it finds in source is at most; `docs/confidence.md` says how that is decided.
        words: names, as patterns with spaces between, one of which stands in all code that it may fire in; only needed
            for a rule that may fire where nothing else speaks of training (`trainlint/words.py`).
        covered_by: codes of other rules, with spaces between: where one of them has a finding at the same place, its mend
            is the mend of this one too, and this one is left out.
        absence: what it finds follows from something that does not happen, such as a `zero_grad()`: it is only likely where
            a limit was reached beyond which calls are not followed.
        costs: what it finds costs memory or time and nothing else: it says nothing of what a test of the program's does
            itself, which is soon over.
        explained_by: a pattern of what a comment beside it says with which the author gives a reason for what is found: it
            has been decided, and is information.
        commented_out: a pattern of code, with `SUBJECT` for the subject of a finding, that a comment anywhere in the file
            holds where its author has switched off what the finding misses: that has been decided too.
    """
    return lambda check: Rule(
        fact,
        check,
        level,
        refutable,
        by,
        steps,
        confidence,
        words,
        covered_by,
        absence,
        costs,
        explained_by,
        commented_out,
    )
