"""What the rest of a project says of a finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from trainlint import limits
from trainlint.check.settled import settled
from trainlint.cli.app import app
from trainlint.finding import Because, Elsewhere, Finding, Place

if TYPE_CHECKING:
    from tests.conftest import Project

AT = Place("load.py", 3, 1, 3, 9)
OWN = Elsewhere(r"\bsave\(", "written here")


def told(files: Mapping[str, str], unless: Elsewhere | None = OWN) -> Finding:
    finding = Finding(AT, "", level="warning", unless=unless)
    (found,) = settled([finding], lambda path: files[path].encode(), lambda: list(files))
    return found


@pytest.mark.parametrize(
    ("files", "level"),
    [
        ({"load.py": "", "train.py": "torch.save(state)"}, "info"),
        ({"load.py": "save(state)"}, "info"),
        ({"load.py": "", "train.py": "# torch.save(state)"}, "warning"),
        ({"load.py": "", "train.md": "torch.save(state)"}, "warning"),
        ({"load.py": "", "train.py": "resave(state)"}, "warning"),
    ],
)
def test_what_the_project_holds_makes_it_information(files: Mapping[str, str], level: str) -> None:
    assert told(files).level == level
    assert told(files, unless=None).level == "warning"


def test_it_says_where_in_the_first_file() -> None:
    files = {"z.py": "save(1)", "load.py": "", "b.py": "x = 1\ny = 'é'; save(2)"}
    assert told(files).because == (Because(Place("b.py", 2, 10, 2, 15), "written here"),)


def test_it_may_stand_on_several_lines() -> None:
    files = {"load.py": "x = 1\n  net = wrap(net)  # plain\n# net = 1\nnet.load(state)"}
    unless = Elsewhere(r"(\w+) = wrap\([^#]*?^\1\.load\(", "wrapped here")
    assert told(files, unless).because == (Because(Place("load.py", 2, 3, 2, 18), "wrapped here"),)


def test_too_large_a_project_is_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"load.py": "", "train.py": "save(state)"}
    monkeypatch.setattr(limits, "PROJECT_FILES", 1)
    assert told(files).level == "warning"
    finding = Finding(AT, "", level="warning", unless=OWN)
    assert settled([finding], lambda path: b"save(1)", lambda: None) == [finding]


SAVES = """import torch
from torch import nn

model = torch.compile(nn.Linear(1, 1))
model(torch.ones(1, 1)).sum().backward()
torch.save(model.state_dict(), "last.pt")
"""


def test_check_asks_the_whole_project(project: Project) -> None:
    def check(*options: str) -> str:
        return CliRunner().invoke(app, ["check", "--no-cache", *options, "train.py"]).output

    project({"train.py": SAVES, "load.py": "import torch\n"})
    assert "warning[TL930]" in check()
    project({"load.py": "def plain(key):\n    return key.replace('_orig_mod.', '')\n"})
    assert "Found nothing in 1 file" in check()
    assert "this project takes the prefix off" in check("--select", "TL930")


def test_a_model_that_is_wrapped_before_it_is_loaded_keeps_the_prefix(project: Project) -> None:
    def check() -> str:
        return CliRunner().invoke(app, ["check", "--no-cache", "train.py"]).output

    wrapped = "net = torch.compile(Net())\nnet.eval()\nnet.load_state_dict(torch.load('last.pt'))\n"
    project({"train.py": SAVES, "load.py": f"import torch\n{wrapped}"})
    assert "Found nothing in 1 file" in check()
    for other in (
        wrapped.replace("net.load", "other.load"),
        wrapped.replace("net.eval()", "def load(net):"),
        wrapped.replace("torch.compile(", "("),
    ):
        project({"load.py": f"import torch\n{other}"})
        assert "warning[TL930]" in check()
