"""A baseline: what is known stays quiet, and everything else does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Outcome, Project, Trainlint

HEAD = "def f(x):\n    y = x\n"
OLD = HEAD + "    tl101(x)\n    return y\n"


def write_baseline(trainlint: Trainlint, *arguments: str) -> None:
    outcome = trainlint("check", "--baseline", "known.json", "--write-baseline", *arguments)
    assert outcome.exit_code == 0, outcome.output


def new(trainlint: Trainlint, *arguments: str) -> list[str]:
    """What is reported beside the baseline, as `path:line`."""
    outcome = trainlint("check", "--baseline", "known.json", "--output-format", "concise", *arguments)
    lines = outcome.stdout.splitlines()
    assert outcome.exit_code == bool(lines), outcome.output
    return [":".join(line.split(":")[:2]) for line in lines]


def withheld(trainlint: Trainlint, *arguments: str) -> dict[str, Any]:
    outcome = trainlint("check", "--baseline", "known.json", "--output-format", "json", *arguments)
    found: dict[str, Any] = json.loads(outcome.stdout)["summary"]["withheld"]
    return found


def test_what_is_known_is_not_reported(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": OLD, "b.py": "tl301_warning()\n"})
    written = trainlint("check", "--baseline", "known.json", "--write-baseline")
    assert (written.exit_code, written.stdout) == (0, "Found nothing in 2 files (2 in the baseline).\n")
    assert new(trainlint) == []
    assert withheld(trainlint) == {"known": 2, "gone": 0, "unchanged": None, "imported": 0, "unused": 0}
    project({"c.py": "tl101()\n"})
    assert new(trainlint) == ["c.py:1"]


@pytest.mark.parametrize(
    "edited",
    [
        "import os\n\n\n" + OLD,
        "if True:\n" + "".join(f"    {line}\n" for line in OLD.splitlines()),
        OLD.replace("y = x\n", "y = x + 1\n"),
        OLD.replace("return y", "return None"),
        OLD.replace("tl101(x)", "tl101(x)  # why"),
        OLD + "tl301()  # trainlint: ignore\n",
        OLD.replace("\n", "\r\n"),
    ],
)
def test_a_known_finding_stays_known_when_its_file_is_edited(
    project: Project, trainlint: Trainlint, edited: str
) -> None:
    project({"a.py": OLD})
    write_baseline(trainlint)
    project({"a.py": edited})
    assert new(trainlint) == []
    assert withheld(trainlint) == {"known": 1, "gone": 0, "unchanged": None, "imported": 0, "unused": 0}


@pytest.mark.parametrize(
    ("edited", "reported"),
    [
        (OLD.replace("tl101(x)", "tl301(x)"), ["a.py:3"]),
        (OLD.replace("tl101(x)", "tl101(y)"), ["a.py:3"]),
        (OLD + "tl301()\n", ["a.py:5"]),
        (OLD.replace("    return y", "    tl101(x)\n    return y"), ["a.py:4"]),
        ("tl101(x)\n" + OLD, ["a.py:1"]),
    ],
)
def test_one_more_is_reported(
    project: Project, trainlint: Trainlint, edited: str, reported: list[str]
) -> None:
    project({"a.py": OLD})
    write_baseline(trainlint)
    project({"a.py": edited})
    assert new(trainlint) == reported


def test_the_like_are_counted(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\n" * 12})
    write_baseline(trainlint)
    assert new(trainlint) == []
    project({"a.py": "tl101()\n" * 13})
    assert len(new(trainlint)) == 1
    project({"a.py": "tl101()\n" * 4})
    assert new(trainlint) == []
    assert withheld(trainlint) == {"known": 4, "gone": 8, "unchanged": None, "imported": 0, "unused": 0}


def test_entries_of_no_more_use_are_counted_and_removed(project: Project, trainlint: Trainlint) -> None:
    root = project({"a.py": "tl101()\ntl301()\n", "b.py": "tl101()\n", "c.py": "tl101()\n"})
    write_baseline(trainlint)
    project({"a.py": "tl101()\n", "c.py": "tl101()  # trainlint: ignore\n"})
    (root / "b.py").unlink()
    assert trainlint("check", "--baseline", "known.json").stdout == (
        "Found nothing in 2 files (1 suppressed, 1 in the baseline).\n3 entries of the baseline match no "
        "finding any more: --write-baseline removes such entries.\n"
    )
    write_baseline(trainlint)
    assert withheld(trainlint) == {"known": 1, "gone": 0, "unchanged": None, "imported": 0, "unused": 0}
    assert [one["path"] for one in json.loads(Path("known.json").read_text())["findings"]] == ["a.py"]


def test_a_part_of_the_files_says_nothing_of_the_others(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\n", "b.py": "tl301()\n", "c.py": "tl101()\n"})
    write_baseline(trainlint)
    assert withheld(trainlint, "a.py") == {
        "known": 1,
        "gone": 0,
        "unchanged": None,
        "imported": 0,
        "unused": 0,
    }
    project({"a.py": "tl101()\ntl301()\n", "c.py": "(\n"})
    write_baseline(trainlint, "a.py")
    project({"c.py": "tl101()\n"})
    assert new(trainlint) == []
    assert withheld(trainlint) == {"known": 4, "gone": 0, "unchanged": None, "imported": 0, "unused": 0}


def test_a_part_of_the_rules_says_nothing_of_the_others(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\ntl301()\n"})
    write_baseline(trainlint)
    assert withheld(trainlint, "--select", "TL3") == {
        "known": 1,
        "gone": 0,
        "unchanged": None,
        "imported": 0,
        "unused": 0,
    }
    project({"a.py": "tl101()\ntl301()\ntl301(more)\n"})
    write_baseline(trainlint, "--select", "TL3")
    assert new(trainlint) == []


def test_a_file_that_cannot_be_read_keeps_its_entries(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\n"})
    write_baseline(trainlint)
    project({"a.py": "(\n"})
    outcome = trainlint("check", "--baseline", "known.json", "--write-baseline")
    assert outcome.exit_code == 2
    project({"a.py": "tl101()\n"})
    assert new(trainlint) == []


def test_paths_start_from_the_baseline(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project({"src/a.py": "tl101()\n", "trainlint.toml": 'baseline = "known.json"'})
    write_baseline(trainlint)
    monkeypatch.chdir(root / "src")
    assert trainlint("check").stdout == "Found nothing in 1 file (1 in the baseline).\n"
    assert trainlint("check", str(root)).exit_code == 0
    assert trainlint("check", "--write-baseline").exit_code == 0
    assert json.loads((root / "known.json").read_text())["findings"][0]["path"] == "src/a.py"


def test_writing_twice_changes_nothing(project: Project, trainlint: Trainlint) -> None:
    root = project({"b.py": "tl301()\ntl101()\n", "a.py": "tl101('\x1b[31m<b>&é模')\n" * 3})
    write_baseline(trainlint)
    first = (root / "known.json").read_bytes()
    write_baseline(trainlint)
    assert (root / "known.json").read_bytes() == first
    assert b"\x1b" not in first
    assert new(trainlint) == []


def test_min_level_leaves_out_of_a_baseline_what_it_leaves_out_of_a_report(
    project: Project, trainlint: Trainlint
) -> None:
    project({"a.py": "tl101()\ntl301_warning()\n"})
    write_baseline(trainlint, "--min-level", "error")
    assert new(trainlint) == ["a.py:2"]


VALID = {"path": "a.py", "code": "TL101", "text": "tl101()", "around": "0"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "known.json: the baseline does not exist: create one with --write-baseline"),
        ("", "known.json: is not a baseline, or a damaged one"),
        ('{"trainlint_baseline": 1, "findings": [', "is not a baseline, or a damaged one"),
        ("[" * 100_000, "is not a baseline, or a damaged one"),
        ("[]", "is not a baseline of trainlint"),
        ("{}", "is not a baseline of trainlint"),
        ('{"trainlint_baseline": 1}', "is a damaged baseline"),
        ('{"trainlint_baseline": 1, "findings": 3}', "is a damaged baseline"),
        ('{"trainlint_baseline": 1, "findings": [3]}', "is a damaged baseline"),
        ('{"trainlint_baseline": 1, "findings": [{"path": "a.py"}]}', "is a damaged baseline"),
        (
            json.dumps({"trainlint_baseline": 1, "findings": [{**VALID, "count": 0}]}),
            "is a damaged baseline",
        ),
        (json.dumps({"trainlint_baseline": 1, "findings": [{**VALID, "text": 1}]}), "is a damaged baseline"),
        ('{"trainlint_baseline": 99, "findings": []}', "is a baseline of another version, 99"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_refused(
    project: Project, trainlint: Trainlint, content: str | None, message: str
) -> None:
    project({"a.py": "tl101()\n", **({} if content is None else {"known.json": content})})
    outcome = trainlint("check", "--baseline", "known.json")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert message in outcome.stderr
    assert outcome.stderr.count("\n") == 1


def test_a_baseline_that_is_not_utf8_is_refused(project: Project, trainlint: Trainlint) -> None:
    (project({"a.py": "tl101()\n"}) / "known.json").write_bytes(b"\xff\xfe")
    assert "is not a baseline" in trainlint("check", "--baseline", "known.json").stderr


def refused(outcome: Outcome, message: str) -> None:
    assert outcome.exit_code == 2
    assert message in outcome.stderr


def test_only_a_baseline_is_replaced(project: Project, trainlint: Trainlint) -> None:
    root = project({"a.py": "tl101()\n", "data.json": '{"mine": 1}'})
    for file in ("a.py", "data.json"):
        before = (root / file).read_bytes()
        outcome = trainlint("check", "--baseline", file, "--write-baseline")
        refused(outcome, f"{file}: is not a baseline")
        assert (root / file).read_bytes() == before
    project({"old.json": '{"trainlint_baseline": 0, "entries": {}}'})
    assert trainlint("check", "--baseline", "old.json", "--write-baseline").exit_code == 0
    assert trainlint("check", "--baseline", "old.json").exit_code == 0


def test_what_makes_no_baseline(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\n"})
    refused(trainlint("check", "--write-baseline"), "--write-baseline needs a file")
    refused(
        trainlint("check", "--baseline", "k.json", "--write-baseline", "--changed-only"),
        "--write-baseline cannot be combined with --changed-only",
    )
    refused(trainlint("check", "--baseline", "none/k.json", "--write-baseline"), "cannot be written")
    refused(trainlint("check", "--baseline", "."), "cannot be read")
