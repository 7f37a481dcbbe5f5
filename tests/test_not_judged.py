"""Where nothing is judged because nobody in sight calls a function, and nothing says what it is given, that is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fixing import Check

STRANGE = """\
import torch


def advance(thing, batch):
    thing.step(batch)


def go(thing, parts, data):
    for batch in data:
        thing.train()
        parts.forward(batch).backward()
"""
KNOWN = STRANGE.replace("thing.train()", "thing.train()\n        thing(batch)")


def test_text(check: Check, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(STRANGE)
    said = check("--verbose", "train.py").stdout.decode()
    assert "Not judged, as nobody in sight calls it:\n  train.py, go: nothing says what `thing` is\n" in said
    assert "advance" not in said
    assert "Not judged" not in check("train.py").stdout.decode()


def test_json(check: Check, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(STRANGE)
    document = json.loads(check("--output-format", "json", "train.py").stdout)
    assert document["not_judged"] == [
        {"path": "train.py", "entry": "go", "why": "nothing says what `thing` is"}
    ]
    assert document["limits"] == []


@pytest.mark.parametrize(
    "text",
    [
        KNOWN,
        STRANGE.replace("go(thing,", "go(thing: torch.nn.Module,"),
        f"{STRANGE}\n\ngo(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2), [torch.zeros(2, 2)])\n",
    ],
    ids=["its use says it", "an annotation says it", "a caller is there"],
)
def test_nothing_to_say(text: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(text)
    assert json.loads(check("--output-format", "json", "train.py").stdout)["not_judged"] == []
