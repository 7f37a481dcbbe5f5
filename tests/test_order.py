"""What is found does not depend on the order of anything: of definitions, files, edits, processes, or hashes.

A sample of the scenarios is tried; with TRAINLINT_EVERY_ORDER=1 all of them are, in several orders.
"""

from __future__ import annotations

import ast
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.test_scenarios import Scenario, scenarios
from trainlint.check.analysis import Source, analyse
from trainlint.finding import Finding
from trainlint.program.evaluate.entry_points import Roots
from trainlint.program.incremental.outcome import Entry, Outcome

EVERY = os.environ.get("TRAINLINT_EVERY_ORDER") == "1"
SEEDS = range(4) if EVERY else range(1)
ROOT = Path(__file__).parent.parent


def sample(every: int) -> list[Scenario]:
    found = scenarios()
    return found if EVERY else found[::every]


# Definitions in another order

Definition = ast.FunctionDef | ast.ClassDef


def needs(one: Definition) -> set[str]:
    """The names that are read while something is defined."""
    found: set[str] = set()
    pending: list[ast.AST] = [one]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        later = node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
        pending.extend(part for part in ast.iter_child_nodes(node) if part not in later)
    return found


def runs_of_definitions(tree: ast.Module) -> Iterator[list[Definition]]:
    """Definitions that follow each other with no other statement between them."""
    run: list[Definition] = []
    for node in [*tree.body, None]:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            run.append(node)
            continue
        names = [one.name for one in run]
        if len(run) > 1 and len(set(names)) == len(names):
            yield run
        run = []


def shuffled(text: str, chance: random.Random) -> str:
    """The same module with its definitions in another order in which Python can make them."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    for run in runs_of_definitions(ast.parse(text)):
        begin = min([run[0].lineno, *(one.lineno for one in run[0].decorator_list)]) - 1
        ends = [begin, *(one.end_lineno or 0 for one in run)]
        texts = {one.name: lines[start:end] for one, start, end in zip(run, ends, ends[1:], strict=False)}
        waiting = {one.name: needs(one) & texts.keys() - {one.name} for one in run}
        order: list[str] = []
        while waiting:
            ready = [name for name, needed in waiting.items() if needed <= set(order)]
            order.append(chance.choice(ready))
            del waiting[order[-1]]
        lines[begin : ends[-1]] = [line for name in order for line in texts[name]]
    return "".join(lines)


def said(findings: tuple[Finding, ...], files: Mapping[str, str]) -> Counter[tuple[str, str, str]]:
    """Which rule says something of which line, by the text of the line."""
    lines = {path: text.splitlines() for path, text in files.items()}
    return Counter((one.code, one.at.path, lines[one.at.path][one.at.line - 1]) for one in findings)


def checked(files: Mapping[str, str], cache: Path | None = None) -> tuple[Finding, ...]:
    analysis = analyse([Source(path, text.encode()) for path, text in files.items()], jobs=1, cache_dir=cache)
    assert analysis.problems == ()
    return analysis.findings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("scenario", sample(9), ids=lambda scenario: scenario.name)
def test_order_of_definitions(scenario: Scenario, folder: Path) -> None:
    scenario.write(folder)
    first = said(checked(scenario.files), scenario.files)
    for seed in SEEDS:
        chance = random.Random(seed)
        moved = {path: shuffled(text, chance) for path, text in scenario.files.items()}
        if moved != scenario.files:
            assert said(checked(moved), moved) == first, seed


def test_definitions_are_moved_where_python_allows_it() -> None:
    text = "x = 1\ndef a():\n    return b\n\n@a\ndef b(): ...\n\nclass C: ...\nclass D(C): ...\na()\n"
    orders = {shuffled(text, random.Random(seed)) for seed in range(40)}
    assert len(orders) == 6
    for order in orders:
        compile(order, "moved.py", "exec")
        places = [order.index(part) for part in ("x = 1", "def a", "@a", "a()\n", "class C", "class D")]
        assert places[0] < places[1] < places[2] and places[4] < places[5]
        assert order.endswith("\na()\n")


# Cold and warm

EDITS: dict[str, Callable[[str], str]] = {
    "a comment at the end": lambda text: text + "# a comment\n",
    "an empty line above": lambda text: "\n" + text,
    "a name nobody uses": lambda text: text + "nobody_uses_this = 1\n",
    "a function nobody calls": lambda text: text + "\n\ndef nobody_calls_this(value):\n    return value\n",
}


@pytest.mark.parametrize("scenario", sample(40), ids=lambda scenario: scenario.name)
def test_warm_is_cold(scenario: Scenario, folder: Path) -> None:
    scenario.write(folder)
    files, cache = dict(scenario.files), folder / "kept"
    checked(files, cache)
    for path in scenario.files:
        for edit in EDITS.values():
            files[path] = edit(files[path])
            (folder / path).write_text(files[path])
            assert checked(files, cache) == checked(files)


# Processes, folders, hashes


def together(folder: Path) -> dict[str, str]:
    """Scenarios side by side: one program each, all in one check."""
    for number, scenario in enumerate(sample(25)):
        inner = folder / f"s{number}"
        inner.mkdir()
        scenario.write(inner)
    return {str(file.relative_to(folder)): file.read_text() for file in sorted(folder.rglob("*.py"))}


NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layers = [nn.Linear(16, 16) for _ in range(features)]
        self.encoders = nn.ModuleList(self.layers)

    def forward(self, x):
        for encoder in self.encoders:
            x = encoder(x)
        return nn.functional.mse_loss(x, x)
"""


def test_a_method_follows_from_no_other_entry_point(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the class of a method was entered before it says nothing of the method."""
    sources = [Source("net.py", NET.encode())]
    every, noted = Roots._turns, Roots._noted
    seen: dict[Entry, list[Outcome]] = {}

    def note(roots: Roots, entry: Entry, outcome: Outcome) -> tuple[Finding, ...]:
        seen.setdefault(entry, []).append(outcome)
        return noted(roots, entry, outcome)

    monkeypatch.setattr(Roots, "_noted", note)
    analyse(sources, jobs=1)
    monkeypatch.setattr(
        Roots, "_turns", lambda roots: (one for one in every(roots) if one.entry[0] == "function")
    )
    analyse(sources, jobs=1)
    twice = {entry: outcomes for entry, outcomes in seen.items() if len(outcomes) == 2}
    assert any(kind == "function" for kind, _, _ in twice)
    assert [entry for entry, (one, again) in twice.items() if one != again] == []


def test_number_of_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [Source(path) for path in together(folder)]
    alone = analyse(sources, jobs=1)
    monkeypatch.setattr("trainlint.program.incremental.groups._WORTH_A_POOL", 0)
    both = analyse(sources, jobs=2)
    assert both == alone and alone.findings
    backwards = analyse(sources[::-1], jobs=1)
    assert backwards == alone


def test_working_folder_and_hashes(folder: Path) -> None:
    (folder / "program").mkdir()
    together(folder / "program")
    (folder / "elsewhere").mkdir()

    def found(cwd: str, path: str, seed: str) -> list[tuple[object, ...]]:
        done = subprocess.run(
            [sys.executable, "-m", "trainlint", "check", path, "--no-cache", "--output-format", "json"],
            cwd=folder / cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        report = json.loads(done.stdout)
        assert not report["errors"]
        return [
            (os.path.basename(os.path.dirname(one["path"])), one["code"], one["line"], one["message"])
            for one in report["findings"]
        ]

    first = found("program", ".", "1")
    assert first and sorted(found("elsewhere", "../program", "2")) == sorted(first)
