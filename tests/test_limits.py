"""Programs whose values double with each line: they are followed as far as the limits go, and that is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from trainlint import limits
from trainlint.cli.app import app
from trainlint.facts.model.effort import spend
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Value
from trainlint.finding import Finding, Problem
from trainlint.judging import judged
from trainlint.program.evaluate.context import Following
from trainlint.program.evaluate.evaluator import Evaluator
from trainlint.program.incremental.cache import Cache
from trainlint.program.incremental.project_files import Files, Project
from trainlint.program.source.outline import outline
from trainlint.program.source.reading import read
from trainlint.reached import Reached
from trainlint.rule import Check, Rule

START = """\
import torch
from torch import nn

a, b, x = input(), input(), torch.ones(2)
xs = [nn.Linear(2, 2), nn.ReLU()]
"""


def evaluated(text: str) -> Evaluator:
    """What has evaluated the body of one file."""
    _, module = read("train.py", (START + text).encode(), Cache(None), Files({"train.py": None}))
    assert module is not None
    evaluator = Evaluator(Project({"train.py": module}, {"train.py": outline(module)}))
    evaluator.module("train.py")
    return evaluator


def spent(text: str) -> int:
    """The steps of all kinds that a body takes."""
    counts: list[int] = []

    class Counting(Evaluator):
        def spend(self, steps: int = 1) -> None:
            super().spend(steps)
            counts.append(self.work.budget.steps)

    _, module = read("train.py", (START + text).encode(), Cache(None), Files({"train.py": None}))
    assert module is not None
    evaluator = Counting(Project({"train.py": module}, {"train.py": outline(module)}))
    evaluator.module("train.py")
    assert not evaluator.bodies["train.py"].trace.limits
    return counts[-1]


def named(evaluator: Evaluator, name: str) -> Value:
    found = evaluator.store.get((evaluator.module("train.py").uid, name))
    assert found is not None
    return found


DOUBLING = {
    "conditions": ("k = a", "k = (k and a) or (not k and b)"),
    "one condition": ("k = a", "k = k and k"),
    "tests": ("k = a", "k = (k and a) or (not k and b)\nif k:\n    c = 1"),
    "numbers": ("k = 3", "k = k * k"),
    "strings": ("k = 'ab'", "k = k + k"),
    "formats": ("k = '%'", "k = k % 3"),
    "iterators": ("k = x", "k = zip(k, k)\nfor u, v in k:\n    pass"),
    "lists added": ("", "xs = xs + xs"),
    "lists increased": ("", "xs += xs"),
    "lists extended": ("", "xs.extend(xs)"),
    "lists unpacked": ("", "xs = [*xs, *xs]"),
    "lists sliced": ("", "xs = xs[:] + xs[::-1]"),
    "lists multiplied": ("xs = [x] * 2", "xs = xs + xs"),
    "dicts": ("k = {a: x}", "k = {**k, **k}"),
    "dicts updated": ("k = {a: x}", "k.update(k)"),
    "tuples": ("k = x", "k = (k, k)"),
}


@pytest.mark.parametrize("name", DOUBLING)
def test_what_doubles_costs_as_much_as_its_text(name: str) -> None:
    first, line = DOUBLING[name]
    short, long = (spent("\n".join((first, *[line] * count))) for count in (120, 240))
    assert long < 3 * short


def test_arguments_that_double() -> None:
    def helpers(count: int) -> str:
        bodies = (f"def f{one}(*k):\n    return f{one - 1}(*k, *k)\n" for one in range(1, count))
        return "def f0(*k):\n    return k\n" + "".join(bodies) + f"f{count - 1}(x, x)"

    assert spent(helpers(30)) < 3 * spent(helpers(15))


def test_a_list_keeps_its_values_and_its_last_item() -> None:
    made = named(evaluated("\n".join(["xs = xs + xs"] * 12)), "xs")
    assert isinstance(made, Items) and not made.exact
    assert len(made.items) <= limits.MAX_ITEMS
    assert {one.type for one in made.items if isinstance(one, Object)} == {"torch.nn.Linear", "torch.nn.ReLU"}
    assert isinstance(made.items[-1], Object) and made.items[-1].type == "torch.nn.ReLU"
    short = named(evaluated("\n".join(["xs = xs + xs"] * 6)), "xs")
    assert isinstance(short, Items) and short.exact and len(short.items) == 128


def test_loops_over_lists_that_stand_in_each_other() -> None:
    def nested(depth: int) -> str:
        lines = [f"{'    ' * one}for i{one} in range_:" for one in range(depth)]
        return "range_ = [1, 2, 3, 4, 5, 6, 7, 8]\nn = []\n" + "\n".join(
            [*lines, "    " * depth + "n.append(i0)"]
        )

    two, four = (named(evaluated(nested(depth)), "n") for depth in (2, 4))
    assert isinstance(two, Items) and two.exact and len(two.items) == 64
    assert isinstance(four, Items) and not four.exact


# What is told of limits

LATE = """\
def late(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for u, v in loader:
        nn.functional.cross_entropy(model(u).softmax(-1), v).backward()
        optimizer.step()
"""


def checked(folder: Path, text: str, *options: str) -> dict[str, list[dict[str, str]]]:
    (folder / "train.py").write_text(START + text)
    command = ["check", str(folder / "train.py"), "--output-format", "json", *options]
    ran = CliRunner().invoke(app, command, catch_exceptions=False)
    report: dict[str, list[dict[str, str]]] = json.loads(ran.stdout)
    assert not report["errors"]
    return report


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes(report: dict[str, list[dict[str, str]]]) -> set[str]:
    return {one["code"] for one in report["findings"] if one["level"] == "error"}


def test_an_entry_point_that_takes_too_much_loses_itself_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = LATE + "late(nn.Linear(2, 2), [(x, x)])\n" + "print(a + b)\n" * 300
    assert checked(folder, text, "--no-cache")["limits"] == []
    monkeypatch.setattr(limits, "ENTRY_STEPS", 900)
    report = checked(folder, text, "--no-cache")
    assert report["limits"] == [
        {
            "path": "train.py",
            "entry": "",
            "limit": "ENTRY_STEPS",
            "not_judged": "nothing in it is judged",
        }
    ]
    assert "TL101" in codes(report)  # `late` is entered on its own


def _follow_for(steps: int, monkeypatch: pytest.MonkeyPatch, each_name: int = 0) -> None:
    monkeypatch.setattr(limits, "PART_STEPS", steps)
    monkeypatch.setattr(limits, "STEPS_PER_NAME", each_name)


def test_calls_beyond_the_limit_are_told_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = LATE + "def main():\n" + "    print(a + b)\n" * 50 + "    late(nn.Linear(2, 2), [(x, x)])\n"
    assert checked(folder, text, "--no-cache")["limits"] == []
    _follow_for(60, monkeypatch)
    (told,) = checked(folder, text, "--no-cache")["limits"]
    assert (told["entry"], told["limit"]) == ("main", "PART_STEPS")


@pytest.mark.parametrize(("parts", "is_followed"), [(20, True), (1, False)])
def test_calls_are_followed_as_far_as_there_is_text(
    folder: Path, monkeypatch: pytest.MonkeyPatch, parts: int, is_followed: bool
) -> None:
    part = "def part_{}():\n" + "    print(1, 2, 3, 4, 5, 6, 7, 8, 9)\n" * 4 + "\n"
    main = "def main():\n" + "".join(f"    part_{number % parts}()\n" for number in range(20))
    text = LATE + "".join(map(part.format, range(parts))) + main + "    late(nn.Linear(2, 2), [(x, x)])\n"
    _follow_for(300, monkeypatch, each_name=100)
    assert (not checked(folder, text, "--no-cache")["limits"]) is is_followed


@pytest.mark.parametrize("count", [2, 11])
def test_a_loop_over_many_items_leaves_steps_for_what_is_behind_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    text = LATE + (
        "def counted(rate):\n    print(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)\n    return rate\n\n"
        f"def main():\n    for rate in {list(range(count))}:\n        print(counted(rate))\n"
        "    late(nn.Linear(2, 2), [(x, x)])\n"
    )
    _follow_for(100, monkeypatch)
    assert checked(folder, text, "--no-cache")["limits"] == []


CLOSURES = """
def fit(model, loader):
    optimizer = torch.optim.LBFGS(model.parameters())
    LONG
    for x, y in loader:

        def closure():
            CLEAR
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        closure()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""

TRAINERS = """
class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def prepare(self):
        CLEAR

    def fit(self, loader):
        LONG
        for x, y in loader:
            self.prepare()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
"""

HELD = """
class State:
    def __init__(self, model):
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

class Trainer:
    def __init__(self, model):
        self.model, self.state = model, State(model)

    def prepare(self):
        CLEAR

    def fit(self, loader):
        LONG
        for x, y in loader:
            self.prepare()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.state.optimizer.step()
"""


@pytest.mark.parametrize(
    ("text", "clear"),
    [
        (CLOSURES, "optimizer.zero_grad()"),
        (TRAINERS, "self.optimizer.zero_grad()"),
        (HELD, "self.state.optimizer.zero_grad()"),
    ],
)
def test_what_a_call_that_is_not_followed_may_clear_counts_as_cleared(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, clear: str
) -> None:
    def found(clearing: str) -> set[str]:
        program = text.replace("CLEAR", clearing).replace("LONG", "print([1, 2, 3, 4, 5, 6, 7, 8, 9])")
        return codes(checked(folder, program, "--no-cache"))

    assert "TL301" not in found(clear)
    assert "TL301" in found("pass")
    _follow_for(20, monkeypatch)
    assert "TL301" not in found(clear)


def test_a_call_that_is_not_followed_clears_nothing_out_of_its_reach(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
def counted(x):
    return len(x)

def fit(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    print([1, 2, 3, 4, 5, 6, 7, 8, 9])
    for x, y in loader:
        print(counted(x))
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""
    _follow_for(20, monkeypatch)
    report = checked(folder, text, "--no-cache")
    assert report["limits"] and "TL301" in codes(report)


GIVEN = """
class Runner:
    def __init__(self, model, made):
        self.model, self.made = model, made

    @property
    def optimizer(self):
        print(len([1, 2, 3, 4, 5, 6, 7, 8, 9]))
        return self.made["optimizer"]

    def fit(self, loader):
        print([1, 2, 3, 4, 5, 6, 7, 8, 9])
        for x, y in loader:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            STEP
"""


def test_a_property_that_is_not_followed_gives_the_same_each_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(step: str) -> set[str]:
        return codes(checked(folder, GIVEN.replace("STEP", step), "--no-cache"))

    assert "TL305" not in found("self.optimizer.step()")
    _follow_for(20, monkeypatch)
    assert "TL305" not in found("self.optimizer.step()")
    assert "TL305" in found("pass")


def test_limits_are_kept_with_findings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _follow_for(60, monkeypatch)
    text = LATE + "def main():\n" + "    print(a + b)\n" * 50 + "    late(nn.Linear(2, 2), [(x, x)])\n"
    cold = checked(folder, text)
    assert cold["limits"]
    assert checked(folder, text)["limits"] == cold["limits"]
    assert checked(folder, text + "# a comment\n")["limits"] == cold["limits"]


def test_verbose_says_which_limits_were_reached(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ENTRY_STEPS", 900)
    (folder / "train.py").write_text(START + LATE + "print(a + b)\n" * 300)
    plain = CliRunner().invoke(app, ["check", "--no-cache", "train.py"])
    verbose = CliRunner().invoke(app, ["check", "--no-cache", "train.py", "--verbose"])
    assert "ENTRY_STEPS" not in plain.stdout
    assert "1 file was not followed to the end: --verbose says where." in plain.stdout
    assert "was not followed to the end" not in verbose.stdout
    assert "  train.py: ENTRY_STEPS, nothing in it is judged\n" in verbose.stdout


def test_the_nearest_limit_counts_and_only_that_of_the_entry_point_grows() -> None:
    evaluator = evaluated("")
    work = evaluator.work
    work.steps, work.following = 0, Following(limits.BATCH_STEPS - 1, "PART_STEPS", grows=True)
    with evaluator.at_most("BATCH_STEPS"):
        work.more = 500
        assert (work.following.limit, evaluator.steps_left()) == ("PART_STEPS", limits.BATCH_STEPS + 499)
        with evaluator.at_most("BATCH_STEPS"):
            work.more = 900
            assert (work.following.limit, evaluator.steps_left()) == ("BATCH_STEPS", limits.BATCH_STEPS)


def test_what_is_followed_to_the_end_says_nothing_of_it(folder: Path) -> None:
    (folder / "train.py").write_text(START + LATE)
    plain = CliRunner().invoke(app, ["check", "--no-cache", "train.py"])
    assert "in 1 file.\n" in plain.stdout and "to the end" not in plain.stdout


def test_a_rule_that_asks_too_much_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(training: Training) -> Iterator[Finding]:
        for _ in range(limits.QUESTION_STEPS):
            spend()
        spend()
        yield from ()

    def quick(training: Training) -> Iterator[Finding]:
        spend(limits.QUESTION_STEPS)
        yield from ()

    def judged_by(work: Check[Training]) -> tuple[Reached, ...]:
        entry = SimpleNamespace(code="TL000", name="costly", rule=Rule(Training, work, "error"))
        monkeypatch.setattr("trainlint.judging.entries", lambda: [entry])
        problems: dict[Problem, None] = {}
        found = judged(Training("train.py", "function", name="fit"), problems)
        assert not problems and not found.findings
        return found.limited

    assert judged_by(check) == (Reached("train.py", "fit", "QUESTION_STEPS", "TL000 says nothing of it"),)
    assert not judged_by(quick)
