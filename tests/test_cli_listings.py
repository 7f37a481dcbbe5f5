"""`trainlint rules` and `trainlint explain`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from trainlint.rules import entries

if TYPE_CHECKING:
    from tests.conftest import Trainlint


@pytest.mark.parametrize("asked", ["TL301", "tl301", "missing-zero-grad"])
def test_explain(trainlint: Trainlint, asked: str) -> None:
    page = next(entry.page for entry in entries() if entry.code == "TL301")
    assert trainlint("explain", asked).stdout == page


def test_explain_on_a_terminal_renders_the_page(trainlint: Trainlint) -> None:
    shown = trainlint("explain", "TL000", env={"FORCE_COLOR": "1", "COLUMNS": "100"}).stdout
    assert "\x1b[" in shown
    assert "```" not in shown


def test_rules_lists_every_rule(trainlint: Trainlint) -> None:
    document = json.loads(trainlint("rules", "--output-format", "json").stdout)
    assert document["version"] == 1
    codes = [rule["code"] for rule in document["rules"]]
    assert codes == ["TL000", *(entry.code for entry in entries())]
    assert all(
        rule["summary"] and rule["level"] in ("error", "warning", "info") for rule in document["rules"]
    )
    concise = trainlint("rules", "--output-format", "concise").stdout
    assert [line.split()[0] for line in concise.splitlines()] == codes
    assert "TL301  error    missing-zero-grad  (can be fixed, likely)\n" in trainlint("rules").stdout


def test_rules_lists_some_rules(trainlint: Trainlint) -> None:
    listed = trainlint("rules", "TL30,missing-no-grad", "tl000", "--output-format", "concise").stdout
    codes = [line.split()[0] for line in listed.splitlines()]
    assert codes == ["TL000", *(f"TL30{n}" for n in range(1, 10)), "TL312"]
    wrong = trainlint("rules", "missing-no-gard")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "did you mean `missing-no-grad`?" in wrong.stderr


def test_explain_says_what_to_do_with_the_beginning_of_a_code(trainlint: Trainlint) -> None:
    said = trainlint("explain", "tl3")
    assert (said.exit_code, said.stderr) == (
        2,
        "error: `tl3` is the prefix of several codes: `trainlint rules tl3` lists them\n",
    )


def test_rules_by_what_is_seen(trainlint: Trainlint) -> None:
    shown = trainlint("rules", "--seen", "NaN", "--output-format", "concise").stdout
    codes = [line.split()[0] for line in shown.splitlines()]
    assert {"TL212", "TL411", "TL606"} <= set(codes)
    assert "TL301" not in codes
    assert trainlint("rules", "--seen", "nothing like this").stdout == ""
