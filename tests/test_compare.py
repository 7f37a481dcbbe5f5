"""`trainlint compare`: what changed between a good run and a bad one, in text, JSON and HTML."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.browser import browser, needs_browser
from tests.reported import big_model
from tests.warm import python
from trainlint.cli.app import app
from trainlint.comparing.compare import differences
from trainlint.comparing.difference import compared
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.trace_file import dumped

GOOD = """\
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x, y = torch.randn(16, 4), torch.randint(3, (16,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
"""
BAD = (
    GOOD.replace("    optimizer.zero_grad()\n", "")
    .replace("loss.backward()", "loss.backward()\n    optimizer.zero_grad()")
    .replace("lr=0.1", "lr=0.5")
    .replace("16", "32")
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, text in (("good", GOOD), ("bad", BAD)):
        (folder / f"{name}.py").write_text(text)
        python(["-m", "trainlint", "run", "--no-cache", "--save-trace", f"{name}.json", f"{name}.py"], folder)
    return folder


def test_what_changed_is_said_topic_by_topic(folder: Path) -> None:
    ran = CliRunner().invoke(app, ["compare", str(folder / "good.json"), str(folder / "bad.json")])
    assert ran.exit_code == 1, ran.output
    topics = [line for line in ran.stdout.splitlines() if line and not line.startswith(" ")]
    assert topics[:2] == ["Findings", "Order of events"]
    assert "TL302 zero-grad-wipes-gradients" in ran.stdout
    lines = [" ".join(line.split()) for line in ran.stdout.splitlines()]
    assert "after backward, 2 times - -> zero_grad of SGD" in lines
    assert "optimizer 1 learning rate 0.1 -> 0.5" in lines
    assert "input 0 of torch.nn.Sequential shape [16, 4] -> [32, 4]" in lines
    assert any("gradient norm" in line and "and 3 more" in line for line in lines)


def test_a_run_is_equal_to_itself(folder: Path) -> None:
    ran = CliRunner().invoke(app, ["compare", str(folder / "good.json"), str(folder / "good.json")])
    assert (ran.exit_code, ran.stdout.partition(":")[0]) == (0, "No differences")


def test_the_differences_as_json(folder: Path) -> None:
    arguments = [
        str(folder / "good.json"),
        str(folder / "bad.json"),
        "--output-format",
        "json",
        "--exit-zero",
    ]
    ran = CliRunner().invoke(app, ["compare", *arguments])
    assert ran.exit_code == 0
    rates = [one for one in json.loads(ran.stdout)["differences"] if one["what"] == "learning rate"]
    assert [(one["before"], one["after"]) for one in rates] == [("0.1", "0.5")]


def test_what_is_no_recording_is_refused(folder: Path) -> None:
    for other, said in (("good.py", "is not a trace"), ("nothing.json", "cannot be read")):
        ran = CliRunner().invoke(app, ["compare", str(folder / "good.json"), str(folder / other)])
        assert ran.exit_code == 2
        assert said in ran.stderr


def test_equal_changes_of_many_parameters_are_one_line_and_all_differences(tmp_path: Path) -> None:
    run = big_model(100, alike=True)
    seen = tuple(
        replace(one, gradient=None) if isinstance(one, ParameterSeen) and "query" in one.name else one
        for one in run.seen
    )
    other = replace(run, seen=seen)
    found = [one for one in differences(run, other) if one.what == "gradient norm"]
    assert len(found) == 20 and {one.way for one in found} == {"went"}
    for name, one in (("a", run), ("b", other)):
        (tmp_path / f"{name}.json").write_text(dumped(one))
    ran = CliRunner().invoke(app, ["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")])
    assert sum("gradient norm" in line for line in ran.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("before", "after", "differs"),
    [
        (1.0, 1.9, False),
        (1.0, 2.1, True),
        (1.0, -1.0, True),
        (0.0, 0.0, False),
        (0.0, 1e-9, True),
        (float("nan"), float("nan"), False),
        (1.0, float("nan"), True),
        (None, 1.0, True),
        ("[8]", "[9]", True),
        (None, None, False),
    ],
)
def test_which_differences_count(before: float | None, after: float | None, differs: bool) -> None:
    assert bool(list(compared("losses", "loss", "value", before, after))) is differs


@needs_browser
def test_both_runs_side_by_side(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "both.html"
    arguments = [str(folder / "good.json"), str(folder / "bad.json"), "--report", str(page)]
    assert CliRunner().invoke(app, ["compare", *arguments]).exit_code == 1
    with browser() as tab:
        tab.open(page)
        assert tab.messages() == [] and tab.requests() == [page.as_uri()]
        assert tab.text("#findings h2") == "Findings"
        assert "good.json" in tab.text("#order thead") and "bad.json" in tab.text("#order thead")
        assert tab.run("return document.querySelectorAll('#curves svg circle').length") >= 8
        assert tab.violations() == []
