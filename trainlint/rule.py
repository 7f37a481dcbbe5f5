"""What a rule is: a function that is handed one kind of fact and yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from trainlint.finding import Finding, Level

Fact = TypeVar("Fact")
Check = Callable[[Fact], Iterator[Finding]]


@dataclass(frozen=True)
class Rule(Generic[Fact]):
    """A check over every fact of one type in a program."""

    fact: type[Fact]
    check: Check[Fact]
    level: Level


def rule(fact: type[Fact], *, level: Level) -> Callable[[Check[Fact]], Rule[Fact]]:
    """Make a generator of findings into a rule that is handed every `fact` of the program."""
    return lambda check: Rule(fact, check, level)
