"""What the tests of the command line share: running a command, and an engine that is easy to steer."""

from __future__ import annotations

import ast
import functools
import gc
import importlib.metadata
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

import pytest
import typer.testing
from typer.testing import CliRunner

from tests.fixing import Check, Ran
from trainlint.catalogue import names
from trainlint.check import checking
from trainlint.check.analysis import Analysis, Source
from trainlint.cli.app import app
from trainlint.finding import Because, Finding, Level, Place, Problem

typer.testing._get_command = functools.cache(typer.testing._get_command)  # type: ignore[attr-defined]
"""The commands are built once, and not for each call of one in a process of the tests."""
os.environ.pop("COLUMNS", None)  # messages are wrapped there
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each new process would compile all that it imports
os.environ.setdefault("OMP_NUM_THREADS", "1")
"""Workers of the tests share the cores; threads that wait for each other in turns cost more than they give."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str
    output: str
    exception: BaseException | None


Trainlint = Callable[..., Outcome]
Project = Callable[[Mapping[str, str]], Path]

QUICK = frozenset(
    "test_arrows test_asking test_baseline test_callers test_changed_only test_cli test_cli_listings test_confidence "
    "test_config test_files test_fix test_fix_arguments test_fix_statements test_formats test_formats_of_hosts test_ignore test_keys test_not_judged test_output "
    "test_own_names test_packing test_questions test_questions_of_shapes test_quick test_read test_roles test_sarif "
    "test_scenarios test_scope test_settings test_sieve test_target test_trace_file".split()
)
"""Files whose tests start no process and need no torch: `pytest -m quick` takes about a minute."""

OVER_ALL_FILES = frozenset(
    ("test_calls_stand_where_python_sees_them", "test_plain_nodes_say_what_libcst_s_own_say")
)
"""Tests of those that go over every file of the repository: not quick."""

LEVELS: Mapping[str, Level] = {"": "error", "_warning": "warning", "_info": "info"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """For the quick selection, files that hold nothing of it are not even imported."""
    is_test = collection_path.suffix == ".py" and collection_path.name.startswith("test_")
    if config.option.markexpr != "quick" or not is_test or collection_path.stem in QUICK:
        return None
    return True if b"mark.quick" not in collection_path.read_bytes() else None


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if item.path.stem in QUICK and getattr(item, "originalname", "") not in OVER_ALL_FILES:
            item.add_marker(pytest.mark.quick)


def pytest_collection_finish() -> None:
    """What is there before the first test stays: no collection of garbage goes through it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def without_a_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same whether trainlint is installed from a package that names its site, or from a checkout."""
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _: Message())


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Write files by path into a new working directory."""

    def write(files: Mapping[str, str]) -> Path:
        for name, content in files.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode())
        return tmp_path

    monkeypatch.chdir(tmp_path)
    return write


@pytest.fixture
def trainlint(monkeypatch: pytest.MonkeyPatch) -> Trainlint:
    """Run a command in this process, with an engine that finds TL101 at each call of `tl101(...)`.

    `tl101_info(...)` is found with another level; every call of `reason(...)` is a second place of all
    findings.
    """

    def run(*arguments: str, stdin: str | None = None, env: Mapping[str, str] | None = None) -> Outcome:
        ran = CliRunner().invoke(app, arguments, input=stdin, env=dict(env or {}))
        return Outcome(ran.exit_code, ran.stdout, ran.stderr, ran.output, ran.exception)

    monkeypatch.setattr(checking, "analyse", _toy_analysis)
    for variable in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(variable, raising=False)
    return run


def _toy_analysis(sources: Sequence[Source], **_: object) -> Analysis:
    texts: dict[str, str] = {}
    problems = []
    for source in sources:
        raw = Path(source.path).read_bytes() if source.text is None else source.text
        try:
            ast.parse(raw)
        except SyntaxError as error:
            problems.append(Problem(source.path, error.lineno, "is not valid Python"))
        else:
            texts[source.path] = raw.decode("utf-8-sig")
    because = tuple(
        Because(at, "this is why")
        for path, text in texts.items()
        for _, at in _calls(path, text, r"\breason\([^)]*\)")
    )
    findings = [
        Finding(
            at,
            "this is wrong",
            because=because,
            level=LEVELS[match[2]],
            code=match[1].upper(),
            name=names()[match[1].upper()],
        )
        for path, text in texts.items()
        for match, at in _calls(path, text, r"\b(tl\d+)(_warning|_info|)\([^)]*\)")
    ]
    return Analysis(tuple(sorted(findings, key=lambda finding: finding.at)), tuple(problems), len(sources))


def _calls(path: str, text: str, pattern: str) -> Iterator[tuple[re.Match[str], Place]]:
    for match in re.finditer(pattern, text):
        yield match, Place(path, *_position(text, match.start()), *_position(text, match.end()))


def _position(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Run `trainlint check` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: bytes | None = None) -> Ran:
        ran = CliRunner().invoke(app, ["check", "--no-cache", *arguments], input=stdin)
        assert "is a bug" not in ran.stderr, ran.stderr
        return Ran(ran.exit_code, ran.stdout_bytes, ran.stderr)

    return run


@pytest.fixture
def hostile(project: Project, trainlint: Trainlint, monkeypatch: pytest.MonkeyPatch) -> Trainlint:
    """A project in which everything that is printed tries to be something else."""
    from tests import hostile_report
    from trainlint.check import checking

    root = project({"first.py": "reason()\n"})
    for name in hostile_report.FILES:
        (root / name).write_text(hostile_report.SOURCE, encoding="utf-8", newline="")
    (root / "broken\n::error::.py").write_text("(\n")
    monkeypatch.setattr(checking, "analyse", hostile_report.hostile_analysis)
    for variable in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    return trainlint
