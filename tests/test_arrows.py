"""Imports among facts point one way: from questions to what they are about, and never in a circle."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FACTS = Path(__file__).parent.parent / "trainlint/facts"
FILES = {f"trainlint.facts.{one.parent.name}.{one.stem}": one for one in FACTS.glob("*/*.py")}


def imported(name: str) -> set[str]:
    """The files of facts that one imports, for its types alone included."""
    nodes = list(ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))))
    found = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    found |= {
        f"{node.module}.{one.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    return found & FILES.keys()


def reached_from(name: str) -> set[str]:
    found: set[str] = set()
    pending = [name]
    while pending:
        new = imported(pending.pop()) - found
        found |= new
        pending += new
    return found


@pytest.mark.parametrize("name", sorted(FILES))
def test_no_file_imports_itself_by_way_of_others(name: str) -> None:
    assert name not in reached_from(name)


@pytest.mark.parametrize("room", ["api", "model", "seen"])
def test_facts_know_nothing_of_questions(room: str) -> None:
    own = [name for name in FILES if name.startswith(f"trainlint.facts.{room}.")]
    assert own
    for name in own:
        assert not [one for one in imported(name) if one.startswith("trainlint.facts.ask.")]
