"""Files that somebody has made so that a check never ends, shows what it should not, or runs what it reads."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pathspec import GitIgnoreSpec

from tests.test_bad_input import BAD, FOUND, check, errors, places, write
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Object
from trainlint.facts.seen.endings import Ending
from trainlint.facts.trace_file import NotATrace, dumped, loaded
from trainlint.facts.typed import is_sound
from trainlint.finding import Place
from trainlint.output.printable import printable
from trainlint.program.source import syntax
from trainlint.program.source.storage import Corrupt, unpacked
from trainlint.project.patterns import git_patterns
from trainlint.project.source_texts import SourceTexts
from trainlint.run.running import _is_source

MANY = "a*" * 9 + "b"
NAME = "a" * 200


def test_patterns_mean_what_they_mean_to_git() -> None:
    draw = random.Random(1)
    for _ in range(4_000):
        pattern = "".join(draw.choices("aab**?/.", k=draw.randint(1, 10)))
        try:
            plain = GitIgnoreSpec.from_lines([pattern])
        except ValueError:
            continue
        path = "/".join(
            "".join(draw.choices("aab.", k=draw.randint(1, 4))) + "a" for _ in range(draw.randint(1, 4))
        )
        for end in ("", "/"):
            wanted = plain.check_file(path + end).include
            assert git_patterns("/", [pattern]).verdict(f"/{path}", is_folder=bool(end)) == wanted, (
                pattern,
                path,
            )


@pytest.mark.parametrize("pattern", [MANY, "**/a/" * 9 + "b*c*d", f"/**/{MANY}/**/{MANY}"])
def test_patterns_that_a_plain_regular_expression_never_decides(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, {".gitignore": pattern, f"{NAME}/{'a/' * 90}known_bad.py": BAD, "known_bad.py": BAD})
    (tmp_path / ".git").mkdir()
    assert len(places(check(tmp_path))) == 2
    write(tmp_path, {".gitignore": "", "trainlint.toml": f'exclude = ["{pattern}"]'})
    assert len(places(check(tmp_path))) == 2


def test_ignore_files_that_are_no_files(tmp_path: Path) -> None:
    write(tmp_path, {"known_bad.py": BAD, "sub/known_bad.py": BAD, ".git/HEAD": ""})
    os.mkfifo(tmp_path / ".gitignore")
    os.symlink("/dev/zero", tmp_path / "sub" / ".gitignore")
    assert len(places(check(tmp_path))) == 2


def test_a_file_larger_than_anything(tmp_path: Path) -> None:
    write(tmp_path, {"known_bad.py": BAD, "huge.py": ""})
    os.truncate(tmp_path / "huge.py", 4_000_000_000)
    report = check(tmp_path)
    assert places(report) == [FOUND]
    assert errors(report) == {
        "huge.py": (None, "cannot be read: it is too large: 4000 MB, and 100 MB is the most")
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a." * 100_000 + "b = 1", "a key has more than 100 parts"),
        ("[" + "a . " * 100_000 + "b]", "a key has more than 100 parts"),
        ("a = " + "[" * 100_000 + "]" * 100_000, "it is nested too deeply"),
        ("# " + "x" * 1_000_000, "it is longer than 1 MB"),
    ],
    ids=["key", "table", "nested", "long"],
)
def test_configurations_that_no_parser_ends(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    from typer.testing import CliRunner

    from trainlint.cli.app import app

    write(tmp_path, {"known_bad.py": BAD, "odd.toml": text})
    ran = CliRunner().invoke(app, ["check", "--config", str(tmp_path / "odd.toml"), str(tmp_path)])
    assert ran.exit_code == 2
    assert said in " ".join((ran.stderr + capfd.readouterr().err).split())


def test_characters_that_nobody_sees_are_shown() -> None:
    for character in "\u061c\u200b\u2060\ufeff\xad\u202e\U000e0041":
        assert printable(f"a{character}b") == f"a{ascii(character)[1:-1]}b"
    for shown in "é", "日本", "\u200d".join("👩💻"), "a\u0301":
        assert printable(shown) == shown


def test_classes_that_a_cache_names_stay_as_they_are() -> None:
    before = dict(vars(syntax.Name))

    def bytes_that_set(name: str) -> bytes:
        state: Any = pickle.dumps((None, {name: "x"}), protocol=2)[2:-1]
        named = f"{syntax.__name__}\nName\n".encode()
        return b"".join((b"\x80\x02c", named, state, b"b."))

    for name in ("__match_args__", "foo"):
        with pytest.raises(Corrupt):
            unpacked(bytes_that_set(name))
        assert dict(vars(syntax.Name)) == before
        pickle.loads(bytes_that_set(name))
        assert dict(vars(syntax.Name)) != before
        with pytest.raises(Corrupt):
            unpacked(pickle.dumps(1))
        assert dict(vars(syntax.Name)) == before


AT = Place("train.py", 1, 1, 1, 9)


def a_trace() -> dict[str, Any]:
    optimizer = Object(at=AT, type="torch.optim.SGD")
    recorded = Recorded(
        path="train.py",
        entry="train.py",
        nodes=[OptimizerStep(at=AT, optimizer=optimizer)],
        objects=(optimizer,),
        seen=(Ending("finished", 1, 1, 1),),
        heads={1: AT},
        lines=frozenset({("train.py", 1)}),
    )
    document: dict[str, Any] = json.loads(dumped(recorded))
    assert is_sound(loaded(json.dumps(document)))
    return document


def test_traces_in_which_a_field_holds_something_else() -> None:
    changes: tuple[dict[str, Any], ...] = (
        {"path": 1},
        {"nodes": [1]},
        {"nodes": {"dict": []}},
        {"heads": {"dict": [["a", {"at": 0}]]}},
        {"lines": {"set": ["train.py"]}},
        {"seen": {"tuple": ["train.py"]}},
        {"ending": None},
        {"places": [["train.py", 1, 1, 1, "9", None]]},
        {"places": [[7, 1, 1, 1, 9, None]]},
        {"values": [{"a": "Op"}]},
        {"values": [{"a": "Object", "type": 5}]},
    )
    for change in changes:
        with pytest.raises(NotATrace):
            loaded(json.dumps({**a_trace(), **change}))


def test_a_trace_that_names_other_files(tmp_path: Path) -> None:
    shown = SourceTexts(may_show=_is_source)
    write(tmp_path, {"secret": "password\n", "train.py": "opt.step()\n"})
    assert list(shown.lines(AT._replace(path=str(tmp_path / "secret")))) == [""]
    assert list(shown.lines(AT._replace(path=str(tmp_path / "train.py")))) == ["opt.step()", ""]


IMPORTED = "statistics difflib json random shutil tomllib typer rich click libcst libcst_native msgspec yaml torch numpy pygls sitecustomize conftest"


@pytest.mark.parametrize("started", [["-m", "trainlint"], [str(Path(sys.executable).parent / "trainlint")]])
def test_modules_of_the_folder_that_is_checked(tmp_path: Path, started: list[str]) -> None:
    for name in IMPORTED.split():
        (tmp_path / f"{name}.py").write_text(
            f"open('ran_{name}', 'w')\nraise SystemExit('{name} was executed')\n"
        )
    write(tmp_path, {"known_bad.py": BAD})
    ran = subprocess.run(
        [sys.executable, *started, "check", ".", "--no-cache", "--output-format", "json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not list(tmp_path.glob("ran_*")), ran.stderr
    assert places(json.loads(ran.stdout)) == [FOUND]
