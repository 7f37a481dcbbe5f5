"""`trainlint run` as a command, and what it reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import warm
from tests.warm import Ran

CLEAN, FOUND, FAILED, PROGRAM_FAILED, INTERRUPTED = 0, 1, 2, 3, 130


TRAINS = """\
import torch
from torch import nn
model = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(model(torch.randn(8, 4)), torch.randint(3, (8,)))
    loss.backward()
    optimizer.step()
    print("step", step)
"""


SOUND = TRAINS.replace(", nn.Softmax(dim=1)", "")


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)


def python(folder: Path, *arguments: str, stdin: str = "", cold: bool = False, **variables: str) -> Ran:
    return warm.python(arguments, folder, variables, stdin, cold=cold)


def run(folder: Path, *arguments: str, stdin: str = "", cold: bool = False, **variables: str) -> Ran:
    """The real command; what it reports goes to a file, so that the streams hold what the program says."""
    ran = python(folder, *_command(*arguments), stdin=stdin, cold=cold, **variables)
    assert "trainlint itself failed" not in ran.stderr, ran.stderr
    return ran


def _command(*arguments: str) -> list[str]:
    options = ["--no-cache", "--output-format", "json", "--output-file", "report.json"]
    return ["-m", "trainlint", "run", "--trace", *options, *arguments]


def report(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return found


def ending(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = report(folder)["run"]["ending"]
    return found


def found(folder: Path) -> list[tuple[str, int, str]]:
    return [(one["code"], one["line"], one["verdict"]) for one in report(folder)["findings"]]
