"""`trainlint` in pytest: a fixture with the assertions, and a marker that records what a test trains."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
ROOT = Path(__file__).parent.parent

TESTS = """\
import pytest
import torch
from torch import nn

def train(model, clears):
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        x = torch.randn(32, 8)
        if clears:
            optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), x[:, :4].argmax(1)).backward()
        optimizer.step()

class Mixes(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
    def forward(self, x):
        return self.fc(x - x.mean(0))

def test_independent(trainlint):
    trainlint.assert_samples_independent(nn.Linear(8, 4), torch.randn(6, 8))

def test_dependent(trainlint):
    trainlint.assert_samples_independent(Mixes(), torch.randn(6, 8))

@pytest.mark.trainlint
def test_clears():
    train(nn.Linear(8, 4), clears=True)

@pytest.mark.trainlint(steps=2)
def test_accumulates():
    train(nn.Linear(8, 4), clears=False)

@pytest.mark.trainlint(ignore=["TL301"])
def test_may_accumulate():
    train(nn.Linear(8, 4), clears=False)

@pytest.mark.trainlint
def test_trains_nothing():
    pass

@pytest.mark.trainlint(stepps=2)
def test_misspelt():
    pass

@pytest.mark.trainlint
def test_fails_by_itself():
    raise ValueError("mine")

def test_without_a_marker():
    train(nn.Linear(8, 4), clears=False)
"""

OUTCOMES = {
    "test_independent": "PASSED",
    "test_dependent": "FAILED",
    "test_clears": "PASSED",
    "test_accumulates": "FAILED",
    "test_may_accumulate": "PASSED",
    "test_trains_nothing": "FAILED",
    "test_misspelt": "FAILED",
    "test_fails_by_itself": "FAILED",
    "test_without_a_marker": "PASSED",
}


def test_a_fixture_and_a_marker(tmp_path: Path) -> None:
    (tmp_path / "test_model.py").write_text(TESTS)
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-v", "--strict-markers", "-p", "no:cacheprovider"),
            *("-p", "trainlint.pytest_plugin", "test_model.py"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = ran.stdout
    assert dict(re.findall(r"::(test_\w+) (PASSED|FAILED)", said)) == OUTCOMES, said
    assert "this model does not train correctly (TL301)" in said
    assert "no training step was recorded: this marker is for tests that train a model" in said
    assert "a marker is trainlint(steps=1, ignore=())" in said
    assert "ValueError: mine" in said


def test_it_imports_nothing_of_trainlint_and_no_torch() -> None:
    code = "import sys, trainlint.pytest_plugin; print([one for one in sys.modules if one.startswith(('torch', 'trainlint', 'libcst'))])"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "['trainlint', 'trainlint.pytest_plugin']\n"


def test_pytest_finds_it_where_it_is_installed() -> None:
    assert 'trainlint = "trainlint.pytest_plugin"' in (ROOT / "pyproject.toml").read_text()
