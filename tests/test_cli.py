"""Commands, options and exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import validate

from tests.command_output import DOCUMENT, FIRST_LOOK, ROOT, python
from trainlint import __version__
from trainlint.check import checking
from trainlint.check.analysis import Analysis, Source

if TYPE_CHECKING:
    from tests.conftest import Project, Trainlint


def test_bundled_example_shows_both_bugs_and_every_place_they_need() -> None:
    ran = python("-m", "trainlint", "check", "--no-cache", cwd=FIRST_LOOK)
    assert ran.returncode == 1, ran.stderr
    assert "error[TL101] softmax-before-cross-entropy" in ran.stdout
    assert "models/net.py:18:" in ran.stdout
    assert "error[TL301] missing-zero-grad" in ran.stdout
    assert "Found 2 errors in 3 files.\n" in ran.stdout


def test_version(trainlint: Trainlint) -> None:
    assert trainlint("--version").stdout == f"trainlint {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["check", "--help"], ["rules"], ["explain", "TL000"]]
)
def test_commands_that_check_nothing_start_without_heavy_imports(arguments: list[str]) -> None:
    watch = "import sys; from trainlint.cli.app import app; app(sys.argv[1:], standalone_mode=False)"
    heavy = "print({'libcst', 'rich', 'torch', 'numpy', 'pathspec'} & set(sys.modules), file=sys.stderr)"
    ran = python("-c", f"{watch}; {heavy}", *arguments)
    assert ran.stderr == "set()\n"
    assert ran.stdout


def test_without_a_command_a_project_is_checked(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\n"})
    elsewhere = trainlint()
    assert (elsewhere.exit_code, elsewhere.stdout) == (2, "")
    assert elsewhere.stderr.startswith("Usage: ")
    project({"pyproject.toml": ""})
    outcome = trainlint()
    assert (outcome.exit_code, outcome.stdout) == (1, trainlint("check").stdout)


def test_clean_code_exits_with_0(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "x = 1\n", "b.py": "x = 2\n"})
    outcome = trainlint("check")
    assert (outcome.exit_code, outcome.stdout) == (0, "Found nothing in 2 files.\n")


def test_findings_exit_with_1(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()\ntl301_warning()\n", "b.py": "tl101()"})
    outcome = trainlint("check", "a.py", "b.py")
    assert outcome.exit_code == 1
    assert outcome.stdout.endswith("\nFound 2 errors and 1 warning in 2 files.\n")


def test_exit_zero(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()"})
    assert trainlint("check", "--exit-zero").exit_code == 0


def test_a_file_that_cannot_be_read_exits_with_2_unless_something_is_found(
    project: Project, trainlint: Trainlint
) -> None:
    project({"broken.py": "x = 1\ndef (:\n"})
    alone = trainlint("check")
    assert alone.exit_code == 2
    assert alone.stderr == "error: broken.py:2: is not valid Python\n"
    assert alone.stdout == "Found nothing in 1 file; 1 problem, see above.\n"
    assert trainlint("check", "--exit-zero").exit_code == 2
    project({"a.py": "tl101()"})
    assert trainlint("check").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "missing.py"], "missing.py: no such file or folder"),
        (["check", "empty"], "no Python files or notebooks found in empty"),
        (["check", "--select", "TL999"], "--select: no rule is called `TL999`"),
        (["check", "--ignore", "missing-zero-gard"], "did you mean `missing-zero-grad`?"),
        (["check", "--stdin-filename", "a.py"], "--stdin-filename needs `-` among the paths"),
        (["check", "--config", "none.toml"], "none.toml: cannot be read"),
        (["check", "--statistics", "--output-format", "json"], "--statistics is a text format"),
        (["check", "--output-file", "none/out.txt"], "none/out.txt: cannot be written"),
        (["explain", "missing-zero-gard"], "did you mean `missing-zero-grad`?"),
    ],
)
def test_what_cannot_be_done_exits_with_2_and_says_why(
    project: Project, trainlint: Trainlint, arguments: list[str], message: str
) -> None:
    project({"a.py": "tl101()", "empty/readme.txt": ""})
    outcome = trainlint(*arguments)
    assert outcome.exit_code == 2
    assert outcome.stderr.startswith("error: ")
    assert message in outcome.stderr


@pytest.mark.parametrize("arguments", [["check", "--jobs", "0"], ["check", "--nonsense"], ["nonsense"]])
def test_wrong_options_exit_with_2(trainlint: Trainlint, arguments: list[str]) -> None:
    assert trainlint(*arguments).exit_code == 2


def test_a_crash_exits_with_2_and_asks_for_a_report(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("kaboom")

    monkeypatch.setattr(checking, "analyse", crash)
    project({"a.py": ""})
    outcome = trainlint("check")
    assert outcome.exit_code == 2
    assert "RuntimeError: kaboom" in outcome.stderr
    assert "please report it" in outcome.stderr


def test_interrupt_exits_with_130_quietly(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checking, "analyse", interrupt)
    project({"a.py": ""})
    outcome = trainlint("check")
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (130, "", "")


def test_a_reader_that_has_gone_away_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [sys.executable, "-m", "trainlint", "rules"],
        cwd=ROOT,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said_clearly() -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "trainlint", "rules"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ran.returncode == 2
    assert ran.stderr == "error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], ["TL101", "TL301"]),
        (["--select", "TL1"], ["TL101", "TL101"]),
        (["--select", "tl301"], ["TL301"]),
        (["--select", "missing-zero-grad,TL101"], ["TL101", "TL101", "TL301"]),
        (["--select", "TL301", "--select", "TL101"], ["TL101", "TL101", "TL301"]),
        (["--select", "ALL"], ["TL101", "TL101", "TL301"]),
        (["--ignore", "TL3"], ["TL101"]),
        (["--ignore", "softmax-before-cross-entropy"], ["TL301"]),
        (["--select", "TL101", "--ignore", "TL1"], ["TL101", "TL101"]),
        (["--select", "ALL", "--ignore", "TL101"], ["TL301"]),
        (["--ignore", "ALL"], []),
    ],
)
def test_select_and_ignore(
    project: Project, trainlint: Trainlint, options: list[str], found: list[str]
) -> None:
    project({"a.py": "tl101()\ntl101_info()\ntl301_warning()\n"})
    outcome = trainlint("check", "--output-format", "json", *options)
    assert [finding["code"] for finding in json.loads(outcome.stdout)["findings"]] == found
    assert outcome.exit_code == bool(found)


def test_json(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "if x:\n    tl101(\n        x)\n", "b.py": "reason()\n", "c.py": "(\n"})
    outcome = trainlint("check", "--output-format", "json")
    document = json.loads(outcome.stdout)
    validate(document, DOCUMENT)
    [finding] = document["findings"]
    assert [finding[key] for key in ("path", "line", "column", "end_line", "end_column")] == [
        "a.py",
        2,
        5,
        3,
        11,
    ]
    [because], [error] = finding["because"], document["errors"]
    assert because == {"path": "b.py", "cell": None, "line": 1, "column": 1, "message": "this is why"}
    assert error == {"path": "c.py", "cell": None, "line": 1, "message": "is not valid Python"}
    assert document["summary"]["files"] == 3
    assert document["summary"]["by_level"] == {"error": 1, "warning": 0, "info": 0}
    assert outcome.stderr == ""


def test_standard_input(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "x = 1\n", "pkg/b.py": "tl301()\n"})
    anonymous = trainlint("check", "-", stdin="tl101()\n")
    assert "--> <stdin>:1:1\n  |\n1 | tl101()" in anonymous.stdout
    named = trainlint("check", "-", "--stdin-filename", "pkg/../a.py", stdin="tl101()\n")
    assert "--> a.py:1:1\n  |\n1 | tl101()" in named.stdout
    edited = trainlint(
        "check", ".", "-", "--stdin-filename", "a.py", "--output-format", "concise", stdin="tl101()"
    )
    assert edited.stdout == "a.py:1:1: error TL101 this is wrong\npkg/b.py:1:1: error TL301 this is wrong\n"


def test_output_file_is_replaced_as_a_whole(project: Project, trainlint: Trainlint) -> None:
    root = project({"a.py": "tl101()", "out.txt": "before\n"})
    (root / "out.txt").chmod(0o640)
    (root / "link.txt").symlink_to("out.txt")
    outcome = trainlint(
        "check", "--output-format", "concise", "--output-file", "link.txt", env={"FORCE_COLOR": "1"}
    )
    assert (outcome.exit_code, outcome.stdout) == (1, "")
    assert (root / "out.txt").read_text() == "a.py:1:1: error TL101 this is wrong\n"
    assert (root / "out.txt").stat().st_mode & 0o777 == 0o640
    assert (root / "link.txt").is_symlink()
    assert sorted(file.name for file in root.iterdir()) == ["a.py", "link.txt", "out.txt"]


def test_output_file_may_be_a_device(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "tl101()"})
    assert trainlint("check", "--output-file", os.devnull).exit_code == 1
    assert not Path(os.devnull).is_file()


def test_quiet_leaves_the_findings_alone(project: Project, trainlint: Trainlint) -> None:
    project({"a.py": "x = 1\n"})
    assert trainlint("check", "--quiet").stdout == ""


def test_options_reach_the_engine(
    project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, object]] = []

    def listening(
        sources: Sequence[Source], *, jobs: int | None, cache_dir: Path | None, **_: object
    ) -> Analysis:
        asked.append((jobs, cache_dir))
        return Analysis((), (), len(sources))

    monkeypatch.setattr(checking, "analyse", listening)
    root = project({"a.py": ""})
    trainlint("check")
    trainlint("check", "--no-cache", "--jobs", "3")
    trainlint("check", "--cache-dir", "kept")
    project({"trainlint.toml": 'jobs = 2\ncache-dir = "elsewhere"'})
    trainlint("check")
    trainlint("check", "-j", "1")
    assert asked == [
        (None, Path(".trainlint_cache")),
        (3, None),
        (None, Path("kept")),
        (2, root / "elsewhere"),
        (1, root / "elsewhere"),
    ]
