"""The index of rules."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from trainlint.catalogue import Described
from trainlint.output.style import Piece


def rule_index(rules: Iterable[Described]) -> Iterator[Piece]:
    """A rule's code, level, name, whether it can be fixed and is no more than likely, and below it what is wrong."""
    for rule in rules:
        yield Piece(rule.code, rule.level, rule.code)
        yield Piece(f"  {rule.level:<7}", rule.level)
        yield Piece(f"  {rule.name}", "strong")
        notes = [
            *(["can be fixed"] if rule.fixable else []),
            *(["likely"] if rule.confidence == "likely" else []),
        ]
        yield Piece(f"  ({', '.join(notes)})\n" if notes else "\n")
        yield Piece(f"       {rule.summary}\n")


def concise_rule_index(rules: Iterable[Described]) -> Iterator[Piece]:
    for rule in rules:
        yield Piece(f"{rule.code} {rule.level} {rule.name}\n")


def json_rule_index(rules: Iterable[Described]) -> str:
    document = {"version": 1, "rules": [rule._asdict() for rule in rules]}
    return json.dumps(document, indent=2) + "\n"
