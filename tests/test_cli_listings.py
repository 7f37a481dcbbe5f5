"""`trainlint rules` and `trainlint explain`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from trainlint.rules import entries

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint


@pytest.mark.parametrize("asked", ["TL301", "tl301", "missing-zero-grad"])
def test_explain(project: Project, trainlint: Trainlint, asked: str) -> None:
    page = next(entry.page for entry in entries() if entry.code == "TL301")
    said = trainlint("explain", asked).stdout
    assert said == page.replace("  # error", "  # TL301").replace("\n", "\n\nOn here by default.\n", 1)
    assert "  # TL301\n" in said


@pytest.mark.parametrize(
    ("code", "configuration", "said"),
    [
        (
            "TL317",
            "",
            "Off here, as it is of level info, which is off unless it is selected: `--extend-select TL317`.",
        ),
        ("TL317", "extend-select = ['TL3']", "On here as `trainlint.toml` selects `TL3`."),
        ("TL301", "ignore = ['TL3', 'TL9']", "Off here, as `trainlint.toml` ignores `TL3`."),
        ("TL301", "ignore = ['TL3']\nselect = ['TL301']", "On here as `trainlint.toml` selects `TL301`."),
        ("TL301", "select = ['TL1']", "Off here, as `trainlint.toml` does not select it."),
        (
            "TL312",
            "min-level = 'error'",
            "Off here, as its level is warning, and `min-level` in `trainlint.toml` is `error`.",
        ),
        (
            "TL301",
            "min-confidence = 'certain'",
            "Off here, as its findings are only likely, and `min-confidence`",
        ),
        (
            "TL301",
            "per-file-ignores = { 'tests/' = ['missing-zero-grad'] }",
            "On here by default; off in `tests/`.",
        ),
        ("TL301", "ignore = ['TL3x']", "Whether it is on here is not known: "),
        ("TL301", "ignore = [", "Whether it is on here is not known: "),
        ("TL315", "", "On here by default; only `trainlint run` can see what it finds."),
        ("TL000", "", "On here by default."),
    ],
)
def test_explain_says_whether_the_rule_is_on_here(
    project: Project, trainlint: Trainlint, code: str, configuration: str, said: str
) -> None:
    project({"trainlint.toml": configuration} if configuration else {})
    shown = trainlint("explain", code)
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[2].startswith(said)


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
