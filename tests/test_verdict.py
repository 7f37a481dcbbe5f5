"""Verdicts: what a run proves of a finding, by what the same rule says of the run, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.in_process import findings_of_run, recorded
from trainlint import judging
from trainlint.check import verdict
from trainlint.check.analysis import Source, analyse
from trainlint.check.verdict import joined, not_checked
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.trace_file import dumped, loaded
from trainlint.finding import Finding, Open, Problem
from trainlint.judging import Judged, judged
from trainlint.rule import rule
from trainlint.rules import Entry
from trainlint.run.ranks import united

TRAINS = """\
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(8, 4)).mean().backward()
    optimizer.step()
"""
STEP = 9


@rule(Training, level="error")
def _sure(training: Training) -> Iterator[Finding | Open]:
    """Suspects each step in the source, and never one that has run."""
    if not isinstance(training, Recorded):
        yield from (Finding(one.at, "suspected") for one in training.events(OptimizerStep))


@rule(Training, level="error")
def _unsure(training: Training) -> Iterator[Finding | Open]:
    """Suspects each step in the source, and cannot tell whether one that has run is wrong."""
    for step in training.events(OptimizerStep):
        if isinstance(training, Recorded):
            yield Open(step.at, "whether it is wrong")
        else:
            yield Open(step.at, "what nobody asks of source")
            yield Finding(step.at, "suspected")


@rule(Training, level="error")
def _failing(training: Training) -> Iterator[Finding | Open]:
    """Suspects each step in the source, and fails on a run."""
    if isinstance(training, Recorded):
        raise KeyError("oh no")
    yield from (Finding(one.at, "suspected") for one in training.events(OptimizerStep))


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that trains, and three rules that suspect its step."""
    found = []
    for folder, check in (("tl001_sure", _sure), ("tl002_unsure", _unsure), ("tl003_failing", _failing)):
        entry = Entry(Path(folder))
        entry.__dict__["rule"] = check
        found.append(entry)
    monkeypatch.setattr(judging, "entries", lambda: tuple(found))
    monkeypatch.setattr(verdict, "entries", lambda: tuple(found))
    file = tmp_path / "train.py"
    file.write_text(TRAINS, encoding="utf-8")
    return file


def _verdicts(findings: list[Finding]) -> dict[str, tuple[int, str | None]]:
    return {one.code: (one.at.line, one.verdict) for one in findings}


def test_a_run_refutes_what_the_same_rule_has_not_left_open(script: Path) -> None:
    read = analyse([Source(str(script))]).findings
    assert {(one.code, one.at.line, one.verdict) for one in read} == {
        ("TL001", STEP, None),
        ("TL002", STEP, None),
        ("TL003", STEP, None),
    }
    run = recorded(script)
    problems: dict[Problem, None] = {}
    found = joined(read, judged(run, problems), run)
    assert _verdicts(found) == {
        "TL001": (STEP, "refuted"),
        "TL002": (STEP, "undecided"),
        "TL003": (STEP, "undecided"),
    }
    assert {one.code: one.evidence for one in found if one.evidence} == {
        "TL002": {"left open": "whether it is wrong"},
        "TL003": {"left open": "this rule did not come to an end on the run"},
    }
    said = list(not_checked(found, run))
    (undecided,) = [one for one in said if one.startswith("lines that ran without showing")]
    assert "TL002 (whether it is wrong)" in undecided
    assert [one.message.partition(",")[0] for one in problems] == ["rule TL003 failed"]


def test_a_trace_leaves_open_what_its_run_has_left_open(script: Path) -> None:
    run = recorded(script)
    assert judged(loaded(dumped(run)), {}) == judged(run, {})
    assert judged(run, {}).openings


def test_what_is_open_on_one_rank_is_open(script: Path) -> None:
    read = analyse([Source(str(script))]).findings
    run = recorded(script)
    first = judged(run, {})
    decided = Judged(())
    assert _verdicts(joined(read, united({0: decided, 1: decided}), run))["TL002"] == (STEP, "refuted")
    assert _verdicts(joined(read, united({0: decided, 1: first}), run)) == {
        "TL001": (STEP, "refuted"),
        "TL002": (STEP, "undecided"),
        "TL003": (STEP, "undecided"),
    }


def test_what_a_rule_leaves_open_elsewhere_is_another_matter(script: Path) -> None:
    read = analyse([Source(str(script))]).findings
    run = recorded(script)
    ran = judged(run, {})
    above = tuple(replace(one, at=one.at._replace(line=1, end_line=1)) for one in ran.openings)
    assert _verdicts(joined(read, replace(ran, openings=above), run))["TL002"] == (STEP, "refuted")


FAILS_LATER = """\
import torch
import torch.nn.functional as F
from torch import nn

head = nn.Linear(16, 1)
scores = F.logsigmoid(head(torch.randn(8, 16)))
F.binary_cross_entropy(scores, torch.ones(8, 1)).backward()
"""

THROUGH_A_NUMBER = """\
import torch
import torch.nn.functional as F
from torch import nn

model = nn.Linear(8, 4)
number = F.cross_entropy(model(torch.randn(16, 8)), torch.randint(0, 4, (16,))).item()
loss = torch.tensor(number, requires_grad=True)
loss.backward()
"""

ENDS_BEFORE_EVALUATION = """\
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 1), nn.Dropout(0.5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for _ in range(4):
        optimizer.zero_grad()
        model(torch.randn(8, 4)).mean().backward()
        optimizer.step()
    model.eval()
"""

HELD_STILL = """\
import torch
import torch.nn.functional as F
from torch import nn

maker, judge = nn.Linear(4, 2), nn.Linear(2, 1)
for_maker, for_judge = torch.optim.SGD(maker.parameters(), 0.1), torch.optim.SGD(judge.parameters(), 0.1)
for _ in range(4):
    made = maker(torch.randn(8, 4)).detach()
    for_judge.zero_grad()
    F.binary_cross_entropy_with_logits(judge(made), torch.zeros(8, 1)).backward()
    for_judge.step()
    for_maker.zero_grad()
    F.binary_cross_entropy_with_logits(judge(made), torch.ones(8, 1)).backward()
    for_maker.step()
"""


@pytest.mark.parametrize(
    ("program", "code", "line"),
    [
        pytest.param(HELD_STILL, "TL202", 8, id="what is before a detach got no gradient"),
        pytest.param(FAILS_LATER, "TL105", 6, id="the program fails in the loss"),
        pytest.param(THROUGH_A_NUMBER, "TL203", 7, id="nobody sees what a number is made of"),
        pytest.param(ENDS_BEFORE_EVALUATION, "TL310", 9, id="the recording ends before the evaluation"),
    ],
)
def test_a_run_does_not_refute_what_it_has_not_shown(
    program: str, code: str, line: int, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(program, encoding="utf-8")
    assert _verdicts(findings_of_run(script)).get(code) == (line, "undecided")


def test_a_run_that_goes_on_after_an_evaluation_shows_the_mode(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(ENDS_BEFORE_EVALUATION, encoding="utf-8")
    assert _verdicts(findings_of_run(script, steps=6))["TL310"] == (9, "confirmed")
    script.write_text(
        ENDS_BEFORE_EVALUATION.replace("    model.eval()", "    vars(model)['training'] = False")
    )
    assert "TL310" not in _verdicts(findings_of_run(script, steps=6))


THROUGH_A_DETACHED_NUMBER = """\
import torch

scale = torch.tensor(3.0, requires_grad=True)
optimizer = torch.optim.SGD([scale], lr=0.1)
for _ in range(3):
    width = torch.tensor(scale.detach().item(), requires_grad=True)
    loss = torch.randn(64).square().mean() + width
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

FROM_A_PLAIN_NUMBER = THROUGH_A_DETACHED_NUMBER.replace("scale.detach().item()", "3.0")


def test_a_number_that_was_detached_first_is_not_followed_either(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(THROUGH_A_DETACHED_NUMBER, encoding="utf-8")
    found = [one for one in findings_of_run(script) if one.code == "TL203"]
    assert [(one.at.line, one.verdict, one.evidence) for one in found] == [
        (6, "undecided", {"left open": "which numbers this tensor is made of"})
    ]
    script.write_text(FROM_A_PLAIN_NUMBER, encoding="utf-8")
    assert _verdicts(findings_of_run(script)).get("TL203") in (None, (6, "refuted"))


def test_what_the_run_shows_at_another_line_is_not_refuted(script: Path) -> None:
    read = analyse([Source(str(script))]).findings
    run = recorded(script)
    (suspected,) = [one for one in read if one.code == "TL001"]
    above = replace(suspected, at=suspected.at._replace(line=5, end_line=5), because=())
    found = joined(read, Judged((above,)), run)
    assert [(one.at.line, one.verdict) for one in found if one.code == "TL001"] == [
        (5, "observed"),
        (STEP, "undecided"),
    ]
