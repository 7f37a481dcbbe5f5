"""After a change, only what follows from it is worked out again, and what is found is what a new run would find."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trainlint.cli.app import app
from trainlint.facts.model.training import Training
from trainlint.finding import Problem
from trainlint.judging import Judged, judged

FILES = {
    "pkg/__init__.py": "from .nets import *\nfrom .steps import take_step\n",
    "pkg/nets.py": """\
import torch
from torch import nn
from .base import Base
from .registry import register

@register("net")
class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.finish(self.fc(x))
""",
    "pkg/base.py": """\
from torch import nn
from .helper import activation

class Base(nn.Module):
    def finish(self, x):
        return activation(x)
""",
    "pkg/helper.py": "def activation(x):\n    return x.softmax(dim=-1)\n",
    "pkg/registry.py": """\
MODELS = {}

def register(name):
    def add(cls):
        MODELS[name] = cls
        return cls
    return add
""",
    "pkg/steps.py": """\
from torch import nn

def take_step(model, optimizer, x, y):
    loss = nn.CrossEntropyLoss()(model(x), y)
    loss.backward()
    optimizer.step()

def unused(model, x, y):
    nn.NLLLoss()(model(x).softmax(1), y).backward()
""",
    "pkg/alone.py": """\
import torch
from . import helper

def judge(x, y):
    return torch.nn.functional.cross_entropy(helper.activation(x), y)
""",
    "train.py": """\
import torch
from pkg import Net, take_step

def train(loader):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        take_step(model, optimizer, x, y)
""",
    "named.py": """\
import torch
import pkg.nets
from pkg.registry import MODELS

def train(loader):
    model = MODELS["net"]()
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
""",
}


def check(*arguments: str) -> dict[str, Any]:
    outcome = CliRunner().invoke(app, ["check", "--output-format", "json", *arguments])
    report: dict[str, Any] = json.loads(outcome.stdout)
    del report["summary"]["seconds"]
    return report


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def replaced(name: str, before: str, after: str) -> Callable[[Path], None]:
    def edit(tree: Path) -> None:
        text = (tree / name).read_text()
        assert before in text
        (tree / name).write_text(text.replace(before, after))

    return edit


def written(name: str, text: str) -> Callable[[Path], None]:
    def edit(tree: Path) -> None:
        (tree / name).write_text(text)

    return edit


EDITS: dict[str, Callable[[Path], None]] = {
    "a comment between": replaced("pkg/steps.py", "    loss.backward", "    # here\n    loss.backward"),
    "lines above": replaced("pkg/steps.py", "def take_step", "# one\n\n# two\ndef take_step"),
    "lines above a finding's second place": replaced("pkg/helper.py", "def", "# softly\n\n\ndef"),
    "a line in an entry point": replaced(
        "train.py", "    model = Net()\n", "    print()\n    model = Net()\n"
    ),
    "a line in a function that is called": replaced(
        "pkg/steps.py", "    optimizer.step()", "    print()\n    optimizer.step()"
    ),
    "a line in a function that is not called": replaced("pkg/steps.py", "(1), y)", "(1), y.long())"),
    "a function is called in another way": replaced(
        "pkg/steps.py", "loss.backward()", "(loss * 2).backward()"
    ),
    "a function that is called no longer trains": replaced("pkg/steps.py", "    loss.backward()\n", ""),
    "a default": replaced("pkg/steps.py", "(model, optimizer, x, y)", "(model, optimizer, x, y=None)"),
    "a method's body": replaced("pkg/nets.py", "self.finish(self.fc(x))", "self.finish(self.fc(x) * 2)"),
    "an __init__": replaced("pkg/nets.py", "nn.Linear(4, 2)", "nn.Linear(4, 3)"),
    "an __init__ that loses its super()": replaced("pkg/nets.py", "        super().__init__()\n", ""),
    "an __init__ with a list": replaced(
        "pkg/nets.py", "self.fc =", "self.all = [nn.Linear(1, 1)]\n        self.fc ="
    ),
    "the body of a decorator": replaced("pkg/registry.py", "        return cls", "        return None"),
    "a decorator's name for it": replaced("pkg/registry.py", "MODELS[name]", "MODELS[name + '2']"),
    "an attribute is read for the first time": replaced(
        "train.py", "    model = Net()", "    model = Net()\n    model.fc.weight"
    ),
    "an attribute is not read any more": replaced("pkg/nets.py", "self.finish(self.fc(x))", "self.finish(x)"),
    "two functions change places": written(
        "pkg/steps.py",
        "from torch import nn\n\n"
        + FILES["pkg/steps.py"].partition("\n\n")[2].partition("\n\n")[2]
        + "\n"
        + FILES["pkg/steps.py"].partition("\n\n")[2].partition("\n\n")[0]
        + "\n",
    ),
    "all on one line": replaced("pkg/helper.py", ":\n    return", ": return"),
    "two on one line": written("pkg/helper.py", "a = 1; " + "activation = lambda x: x.softmax(dim=-1)\n"),
    "a function is renamed": replaced("pkg/alone.py", "def judge", "def forward"),
    "an import in a function": replaced(
        "pkg/alone.py", "    return", "    from .steps import unused\n    unused(x, x, y)\n    return"
    ),
    "a global": replaced("train.py", "    model = Net()", "    global take_step\n    model = Net()"),
    "a comment": replaced("train.py", "import torch\n", "import torch  # of course\n"),
    "a leaf helper": replaced("pkg/helper.py", ".softmax(dim=-1)", ""),
    "a helper moves": replaced("pkg/helper.py", "def", "\n\ndef"),
    "a base class": replaced("pkg/base.py", "activation(x)\n", "x\n"),
    "a base class gets an __init__": replaced(
        "pkg/base.py",
        "    def finish",
        "    def __init__(self):\n        self.x = nn.Linear(1, 1)\n\n    def finish",
    ),
    "a re-export": replaced("pkg/__init__.py", "import take_step", "import unused as take_step"),
    "a name hides a starred one": replaced("pkg/__init__.py", "\nfrom", "\nNet = None\nfrom"),
    "no star any more": replaced("pkg/__init__.py", "from .nets import *", "from .nets import Net"),
    "a starred name goes": replaced("pkg/nets.py", "class Net(", "class Other("),
    "a starred name comes": replaced(
        "pkg/nets.py", "\n@register", "\ndef take_step(*_):\n    pass\n\n@register"
    ),
    "a call stops": replaced("train.py", "        take_step(model, optimizer, x, y)\n", "        pass\n"),
    "a call begins": replaced(
        "train.py",
        "take_step(model, optimizer, x, y)",
        "take_step(model, optimizer, x, y)\n        unused(model, x, y)",
    ),
    "a call to what is imported begins": written(
        "pkg/alone.py",
        FILES["pkg/alone.py"] + "\nfrom .steps import unused\n\ndef more(m, x, y):\n    unused(m, x, y)\n",
    ),
    "a file goes": lambda tree: (tree / "pkg/alone.py").unlink(),
    "an imported file goes": lambda tree: (tree / "pkg/helper.py").unlink(),
    "a file comes": written("pkg/more.py", "from .steps import unused\nunused(1, 2, 3)\n"),
    "a registered name": replaced("pkg/nets.py", '"net"', '"other"'),
    "a registered class": replaced("pkg/nets.py", "self.finish(self.fc(x))", "self.fc(x)"),
    "another name is asked for": replaced("named.py", '"net"', '"other"'),
    "one more registers": written(
        "pkg/alone.py", FILES["pkg/nets.py"].replace(".finish(self.fc(x))", ".fc(x)")
    ),
    "a registry of its own": replaced("pkg/registry.py", "MODELS = {}", "from .helper import MODELS"),
    "modules import each other": replaced(
        "pkg/helper.py", "def", "from .nets import Net\nmade = Net()\n\ndef"
    ),
    "a framework of its own": replaced("pkg/helper.py", "def", "class Tensor:\n    pass\n\n\ndef"),
    "syntax that is none": replaced("pkg/helper.py", "def", "deff"),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_changed_tree_is_checked_as_a_new_one(tree: Path, name: str) -> None:
    first = check()
    assert first["findings"]
    EDITS[name](tree)
    assert check() == check("--no-cache")
    _restore(tree)
    assert check() == first


def test_changes_add_up(tree: Path) -> None:
    for name, change in EDITS.items():
        check()
        change(tree)
        for other in ("train.py", "named.py"):
            with (tree / other).open("a") as file:
                file.write(f"# {name}\n")
            assert check() == check("--no-cache"), name
        _restore(tree)


MASK = """\
import torch
from torch import nn

project, x = nn.Linear(8, 8), torch.randn(2, 6, 8)
visible = torch.tril(torch.ones(6, 6), diagonal=1)
"""
SEES_THE_NEXT = """\
from torch import nn

from common import project, visible, x


def attend(y):
    scores = project(x) @ x.transpose(1, 2)
    mixed = scores.masked_fill(visible == 0, float("-inf")).softmax(dim=-1) @ x
    nn.functional.mse_loss(mixed, y).backward()
"""
MENDED = SEES_THE_NEXT.replace("def attend(y):\n", "def attend(y):\n    visible.tril_()\n")


@pytest.mark.parametrize("mends", ("a.py", "b.py"))
@pytest.mark.parametrize("changed", ("a.py", "b.py", "common.py"))
def test_what_a_file_does_to_a_mask_is_not_done_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mends: str, changed: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "common.py").write_text(MASK)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(MENDED if name == mends else SEES_THE_NEXT)
    first = check()
    assert [(one["path"] != mends, one["code"]) for one in first["findings"]] == [(True, "TL603")]
    with (tmp_path / changed).open("a") as file:
        file.write("# changed\n")
    assert check() == check("--no-cache") == first


@pytest.mark.parametrize(
    ("name", "evaluated"),
    [
        ("lines above", set()),
        ("lines above a finding's second place", set()),
        ("a comment", set()),
        ("a line in an entry point", {"train.py"}),
        ("a line in a function that is called", {"train.py"}),
        ("a line in a function that is not called", {"pkg/steps.py"}),
    ],
)
def test_only_what_follows_from_a_change_is_evaluated(
    tree: Path, monkeypatch: pytest.MonkeyPatch, name: str, evaluated: set[str]
) -> None:
    check()
    EDITS[name](tree)
    seen = set()

    def noting(training: Training, problems: dict[Problem, None]) -> Judged:
        seen.add(training.path)
        return judged(training, problems)

    monkeypatch.setattr("trainlint.program.incremental.evaluating.judged", noting)
    check()
    assert seen == evaluated


def test_a_change_three_files_away_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the body of one file makes goes into what the body of the next one makes."""
    files = {
        "options.py": "from torch import nn\nSOFT = True\nLAST = nn.Softmax(dim=1) if SOFT else nn.Identity()\n",
        "head.py": "from torch import nn\nimport options\nHEAD = nn.Sequential(nn.Linear(4, 3), options.LAST)\n",
        "model.py": "from torch import nn\nimport head\nMODEL = nn.Sequential(nn.Linear(4, 4), head.HEAD)\n",
        "train.py": """\
import torch
import model

def train(loader):
    optimizer = torch.optim.SGD(model.MODEL.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model.MODEL(x), y).backward()
        optimizer.step()
""",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert [one["code"] for one in check()["findings"]] == ["TL101"]
    replaced("options.py", "SOFT = True", "SOFT = False")(tmp_path)
    assert check()["findings"] == []
    replaced("options.py", "SOFT = False", "SOFT = 1")(tmp_path)
    assert [one["code"] for one in check()["findings"]] == ["TL101"]


BESIDE = """\
import torch


class Runner:
    def __init__(self, net, optimizer, loss_fn):
        self.net, self.optimizer, self.loss_fn = net, optimizer, loss_fn

    def teach(self, loader):
        self.net.train()
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = self.loss_fn(self.net(x), y)
            loss.backward()
            self.optimizer.step()

    def score(self, loader):
        with torch.no_grad():
            return sum((self.net(x).argmax(-1) == y).sum().item() for x, y in loader)


def teach(net, optimizer, loss_fn, loader):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        optimizer.step()


def score(net, loader):
    hits = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (net(x).argmax(-1) == y).sum().item()
    return hits


def report(other, x):
    print(other)
    return x
"""


def test_what_functions_say_of_each_other_follows_a_change_of_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(BESIDE)
    assert {one["code"] for one in check()["findings"]} == {"TL311"}
    replaced("train.py", "    print(other)\n", "    other.eval()\n")(tmp_path)
    assert check() == check("--no-cache")
    assert check()["findings"] == []
    replaced("train.py", "    other.eval()\n", "    print(other)\n")(tmp_path)
    assert check() == check("--no-cache")
    assert {one["code"] for one in check()["findings"]} == {"TL311"}


def _restore(tree: Path) -> None:
    for file in (*tree.glob("*.py"), *tree.glob("pkg/*.py")):
        file.unlink()
    for name, text in FILES.items():
        (tree / name).write_text(text)
