"""Which files findings are reported in: those named, and what has to do with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint
    from tests.fixing import Check

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        return torch.softmax(self.head(x), dim=-1)


def scaler():
    return torch.cuda.amp.GradScaler()
"""
TRAIN = """\
import torch
from torch import nn

from parts.model import Net

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(100):
    loss = nn.CrossEntropyLoss()(model(torch.randn(4, 8)), torch.randint(10, (4,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def two_files(tmp_path: Path) -> Path:
    """A model that is wrong for the loop that imports it; returns the model's file."""
    model = tmp_path / "parts/model.py"
    model.parent.mkdir()
    model.write_text(MODEL)
    (tmp_path / "train.py").write_text(TRAIN)
    return model


def found(check: Check, *arguments: str) -> list[tuple[str, str]]:
    ran = check("--output-format", "json", *arguments)
    return [(one["code"], one["path"]) for one in ran.findings]


def test_a_finding_is_reported_if_one_of_its_places_is_in_a_named_file(two_files: Path, check: Check) -> None:
    everything = [("TL101", "parts/model.py"), ("TL401", "parts/model.py")]
    assert found(check, ".") == everything
    assert found(check, "train.py") == [("TL101", "parts/model.py")]
    assert found(check, "parts") == [("TL401", "parts/model.py")]


def test_a_comment_where_the_finding_stands_silences_it(two_files: Path, check: Check) -> None:
    two_files.write_text(MODEL.replace("dim=-1)", "dim=-1)  # trainlint: ignore[TL101]"))
    ran = check("--output-format", "json", "train.py")
    assert ran.code == 0
    assert [one["suppressed"] for one in ran.findings] == [True]


@pytest.mark.parametrize("config", ['extend-exclude = ["parts/"]', 'per-file-ignores = {"parts/" = ["ALL"]}'])
def test_nothing_is_reported_in_a_file_that_is_left_out(two_files: Path, check: Check, config: str) -> None:
    Path("trainlint.toml").write_text(config)
    assert found(check, "train.py") == []
    assert found(check, ".") == []


def test_what_git_ignores_is_left_out_too(two_files: Path, check: Check) -> None:
    Path(".git").mkdir()
    Path(".gitignore").write_text("parts/\n")
    assert found(check, "train.py") == []
    Path("trainlint.toml").write_text("respect-gitignore = false")
    assert found(check, "train.py") == [("TL101", "parts/model.py")]


def test_a_file_that_was_not_named_is_not_fixed(two_files: Path, check: Check) -> None:
    ran = check("--fix", "--unsafe-fixes", "train.py")
    assert ran.code == 1
    assert two_files.read_text() == MODEL
    assert b"can be fixed" not in ran.stdout
    assert b"can be fixed" in check(".").stdout
    check("--fix", "--unsafe-fixes", "train.py", "parts/model.py")
    assert "return self.head(x)" in two_files.read_text()


def test_a_baseline_knows_a_finding_once_whoever_names_it(two_files: Path, check: Check) -> None:
    baseline = ("--baseline", "known.json")
    check(*baseline, "--write-baseline", ".")
    whole = Path("known.json").read_bytes()
    assert check(*baseline, "train.py").code == 0
    check(*baseline, "--write-baseline", "train.py")
    assert Path("known.json").read_bytes() == whole


def test_excluded_files_are_checked_if_they_are_named_unless_forced(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(dict.fromkeys(("a.py", "old/b.py", "build/c.py", "kept/d.py"), "tl101()\n"))
    project({"trainlint.toml": 'extend-exclude = ["/old"]', ".gitignore": "kept/\n"})
    named = ("a.py", "old/b.py", str(root / "build/c.py"), "kept/d.py")

    def checked(*arguments: str) -> list[str]:
        outcome = trainlint("check", "--output-format", "concise", *arguments)
        return [line.split(":")[0] for line in outcome.stdout.splitlines()]

    assert checked(*named) == ["a.py", "build/c.py", "kept/d.py", "old/b.py"]
    assert checked("--force-exclude", *named) == ["a.py", "kept/d.py"]
    assert checked("--force-exclude", "old", "a.py") == ["a.py"]
    monkeypatch.chdir(root / "kept")
    assert checked("--force-exclude", "../old/b.py", "d.py") == ["d.py"]


def test_no_file_is_left_and_that_is_no_error(project: Project, trainlint: Trainlint) -> None:
    project({"build/a.py": "tl101()\n"})
    outcome = trainlint("check", "--force-exclude", "build/a.py")
    assert (outcome.exit_code, outcome.stdout) == (0, "Found nothing in 0 files.\n")
    assert trainlint("check", "--force-exclude", "nowhere.py").exit_code == 2


def test_standard_input_is_excluded_by_its_name(project: Project, trainlint: Trainlint) -> None:
    project({})
    arguments = ("check", "--force-exclude", "-", "--stdin-filename")
    assert trainlint(*arguments, "a.py", stdin="tl101()\n").exit_code == 1
    assert trainlint(*arguments, "build/a.py", stdin="tl101()\n").exit_code == 0
    mended = trainlint(*arguments, "build/a.py", "--fix", stdin="tl101()\n")
    assert (mended.exit_code, mended.stdout) == (0, "tl101()\n")
