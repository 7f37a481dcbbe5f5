"""What a run says of findings in the source, from the program to every output format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from tests.in_process import findings_of_run, recorded
from trainlint.cli.app import app
from trainlint.facts import trace_file
from trainlint.facts.seen.raised import Failure

CLEARED_BY_A_HOOK = """\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.register_step_post_hook(lambda done, args, kwargs: done.zero_grad())
for _ in range(3):
    loss = nn.functional.cross_entropy(model(torch.randn(8, 4)), torch.randint(3, (8,)))
    loss.backward()
    optimizer.step()
"""
"""A program that is sound, in a way that its source does not show."""
NEVER_CLEARED = CLEARED_BY_A_HOOK.replace(".register_step_post_hook(", ".register_step_pre_hook(").replace(
    "done.zero_grad()", "None"
)
UNREACHED = (
    NEVER_CLEARED
    + """\
    break
for _ in range(0):
    model(torch.randn(8, 4)).sum().backward()
    optimizer.step()
"""
)
TEXT = "`SGD` uses the accumulated gradients of all earlier"

Said = Callable[[str], tuple[int, str]]


@pytest.mark.parametrize(
    ("program", "verdicts"),
    [
        pytest.param(CLEARED_BY_A_HOOK, {11: "refuted"}, id="cleared by a hook"),
        pytest.param(NEVER_CLEARED, {11: "confirmed"}, id="never cleared"),
        pytest.param(UNREACHED, {11: "undecided", 15: "not-reached"}, id="not reached"),
    ],
)
def test_verdicts(program: str, verdicts: dict[int, str], tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(program)
    found = [one for one in findings_of_run(script) if one.level != "info"]
    assert {one.at.line: one.verdict for one in found} == verdicts
    assert {one.code for one in found} == {"TL301"}


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """What each format says of the sound program, and the exit code."""
    monkeypatch.chdir(tmp_path)
    for variable in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    Path("train.py").write_text(CLEARED_BY_A_HOOK)
    run = recorded(tmp_path / "train.py")
    Path("kept.trace").write_text(trace_file.dumped(run))

    def run_from_trace(output_format: str) -> tuple[int, str]:
        options = ["--from-trace", "kept.trace", "--no-cache", "--output-format", output_format]
        ran = CliRunner().invoke(app, ["run", *options])
        assert ran.stderr == ""
        return ran.exit_code, ran.stdout

    return run_from_trace


def test_text_shows_it_and_does_not_count_it(said: Said) -> None:
    code, text = said("text")
    assert code == 0
    first, doubt, verdict, *_ = text.splitlines()
    assert first.startswith(f"error[TL301] missing-zero-grad: {TEXT}")
    assert doubt.startswith("  likely: ")
    assert verdict == "  refuted"
    last = text.splitlines()[-1]
    assert last.startswith("Found nothing in ") and last.endswith(" (1 refuted).")


def test_concise_says_it_in_the_line(said: Said) -> None:
    code, text = said("concise")
    assert code == 0
    (line,) = text.splitlines()
    assert line.startswith(f"train.py:11:5: error TL301 {TEXT}")
    assert line.endswith(" (refuted)")


def test_json_holds_it_with_its_verdict(said: Said) -> None:
    code, text = said("json")
    assert code == 0
    report = json.loads(text)
    (finding,) = report["findings"]
    assert (finding["code"], finding["line"], finding["verdict"]) == ("TL301", 11, "refuted")
    assert finding["evidence"] == {}
    summary = report["summary"]
    assert summary["by_verdict"] == {
        "confirmed": 0,
        "refuted": 1,
        "undecided": 0,
        "not-reached": 0,
        "observed": 0,
    }
    assert summary["by_level"] == {"error": 0, "warning": 0, "info": 0}


def test_sarif_holds_it_as_suppressed(said: Said) -> None:
    code, text = said("sarif")
    assert code == 0
    (result,) = json.loads(text)["runs"][0]["results"]
    assert result["ruleId"] == "TL301"
    assert result["properties"]["verdict"] == "refuted"
    (suppression,) = result["suppressions"]
    assert (suppression["kind"], suppression["status"]) == ("external", "accepted")
    assert "without this problem" in suppression["justification"]


def _junit(text: str) -> Any:
    (suite,) = ElementTree.fromstring(text)
    return [(case.get("name"), len(case)) for case in suite]


@pytest.mark.parametrize(
    ("output_format", "read", "nothing"),
    [
        ("github", str, ""),
        ("gitlab", json.loads, []),
        ("junit", _junit, [("nothing found", 0)]),
    ],
)
def test_formats_that_only_fail_leave_it_out(
    said: Said, output_format: str, read: Callable[[str], Any], nothing: object
) -> None:
    code, text = said(output_format)
    assert (code, read(text)) == (0, nothing)


@pytest.mark.parametrize("changes", [("first", "second"), ("second", "first")])
def test_the_latest_change_of_a_kept_result_is_named(changes: tuple[str, str], tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        """\
import torch
from torch import nn

model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.zero_grad()
first, second = model(torch.randn(2, 4)).exp(), model(torch.randn(2, 4)).exp()
loss = first.sum() + second.sum()
{}.mul_(2)
{}.mul_(2)
loss.backward()
optimizer.step()
""".format(*changes)
    )
    run = recorded(script)
    (failure,) = run.facts(Failure)
    assert failure.culprit is not None
    assert failure.culprit.line == 10
