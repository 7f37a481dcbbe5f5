"""How sure findings are: what formats say of it, what options leave out, and what the documentation lists."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.fixing import Check
from trainlint.finding import Finding, Place
from trainlint.rules import entries
from trainlint.server.diagnostics import diagnostic

LIKELY = """\
import torch


def fit(net, loader, opt, crit):
    net.train()
    for x, y in loader:
        opt.zero_grad()
        loss = crit(net(x), y)
        opt.step()
        loss.backward()
"""
CERTAIN = LIKELY.replace("opt, crit", "crit").replace(
    "    net.train()\n", "    net.train()\n    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
)
DOUBT = "nobody in sight calls `fit`: what `opt` is follows from `opt.step()` and `opt.zero_grad()`"


def test_text_says_why(check: Check, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LIKELY)
    assert f"  likely: {DOUBT}\n" in check("train.py").stdout.decode()
    assert " (likely)\n" in check("--output-format", "concise", "train.py").stdout.decode()


def test_what_is_certain_says_nothing(check: Check, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(CERTAIN)
    for form in ("text", "concise", "github", "gitlab", "junit"):
        said = check("--output-format", form, "train.py").stdout.decode()
        assert "TL303" in said
        assert "likely" not in said


@pytest.mark.parametrize("form", ["github", "gitlab", "junit", "sarif"])
def test_formats_for_programs_say_why(form: str, check: Check, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LIKELY)
    said = check("--output-format", form, "train.py").stdout.decode()
    assert DOUBT in said


def test_json(check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LIKELY)
    (tmp_path / "b.py").write_text(CERTAIN)
    document = json.loads(check("--output-format", "json").stdout.decode())
    assert [(one["confidence"], one["doubt"]) for one in document["findings"]] == [
        ("likely", DOUBT),
        ("certain", None),
    ]
    assert document["summary"]["by_confidence"] == {"certain": 1, "likely": 1}


def test_sarif_ranks_what_is_certain_higher(check: Check, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(LIKELY)
    (tmp_path / "b.py").write_text(CERTAIN)
    (run,) = json.loads(check("--output-format", "sarif").stdout.decode())["runs"]
    first, second = run["results"]
    assert first["rank"] < second["rank"]
    assert first["properties"] == {"confidence": "likely", "doubt": DOUBT}


@pytest.mark.parametrize(
    ("setting", "options", "found"),
    [
        ("", [], True),
        ("", ["--min-confidence", "likely"], True),
        ("", ["--min-confidence", "certain"], False),
        ('min-confidence = "certain"', [], False),
        ('min-confidence = "certain"', ["--min-confidence", "likely"], True),
        ('min-confidence = "certain"', ["--select", "TL303"], False),
    ],
)
def test_min_confidence(setting: str, options: list[str], found: bool, check: Check, tmp_path: Path) -> None:
    (tmp_path / "trainlint.toml").write_text(setting)
    (tmp_path / "train.py").write_text(LIKELY)
    assert check(*options).code == (1 if found else 0)
    (tmp_path / "train.py").write_text(CERTAIN)
    assert check(*options).code == 1


def test_a_wrong_confidence(check: Check, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LIKELY)
    (tmp_path / "trainlint.toml").write_text('min-confidence = "sure"')
    ran = check()
    assert ran.code == 2
    assert "`min-confidence` must be certain or likely" in ran.stderr


def test_an_editor_is_told_why() -> None:
    span = types.Range(types.Position(0, 0), types.Position(0, 1))
    finding = Finding(Place("train.py", 1, 1, 1, 2), "wrong.", code="TL303", level="error")
    unused: Any = None
    likely = diagnostic(replace(finding, confidence="likely", doubt=DOUBT), span, unused)
    assert likely.message == f"wrong.\nLikely: {DOUBT}."
    assert diagnostic(replace(finding, confidence="certain"), span, unused).message == "wrong."


def test_of_two_ways_the_surer_counts() -> None:
    at = Place("train.py", 1, 1, 1, 2)
    likely = Finding(at, "wrong", confidence="likely", doubt="why")
    certain = replace(likely, confidence="certain", doubt="")
    assert likely.agreed(certain).confidence == certain.agreed(likely).confidence == "certain"
    assert likely.agreed(certain).doubt == certain.agreed(likely).doubt == ""
    assert likely.agreed(likely).doubt == "why"


def test_the_documentation_lists_the_rules_that_are_likely() -> None:
    page = (Path(__file__).parent.parent / "docs/confidence.md").read_text(encoding="utf-8")
    table = page.partition("<!-- likely -->")[2].partition("<!-- end -->")[0]
    rows = re.findall(r"^\| (TL\d+) \| (\d+) \| (\d+) \|", table, re.MULTILINE)
    assert [code for code, _, _ in rows] == [
        entry.code for entry in entries() if entry.rule.confidence == "likely"
    ]
    assert all(int(right) < 0.9 * int(read) and int(read) >= 4 for _, right, read in rows)
