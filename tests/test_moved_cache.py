"""A cache that CI keeps between runs and machines: a moved checkout with its cache is read no more."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.own import FILES
from tests.test_cache import NET, ROOT, TRAIN
from trainlint.program.incremental import version as version_module
from trainlint.program.incremental.version import version

SAYS = (
    "import sys; from trainlint.cli.app import app\n"
    "try: app(['check', '-q', '--own-rules', '--output-format', 'concise', '.'])\n"
    "finally: print('read' if 'libcst.native' in sys.modules else 'known')"
)


def said(folder: Path, trainlint: Path = ROOT) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-c", SAYS],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(trainlint)},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout.splitlines() + ran.stderr.splitlines()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in {**FILES, "net.py": NET, "train_net.py": TRAIN}.items():
        file = tmp_path / "first" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "first"


def test_a_checkout_that_moves_with_its_cache_is_known_there(checkout: Path, tmp_path: Path) -> None:
    first = said(checkout)
    assert first[-1] == "read"
    assert {line.split(" ")[2] for line in first[:-1]} == {"TL101", "ACME101", "TL301"}
    moved = tmp_path / "elsewhere/second"
    shutil.copytree(checkout, moved, copy_function=shutil.copyfile)  # with new times
    shutil.rmtree(checkout)
    assert said(moved) == [*first[:-1], "known"]
    (moved / "net.py").write_text(NET.replace(".softmax(dim=-1)", ""))
    assert "TL101" not in "".join(said(moved))


def test_nothing_in_a_cache_says_where_it_was_made(checkout: Path, tmp_path: Path) -> None:
    said(checkout)
    files = [one for one in (checkout / ".trainlint_cache").rglob("*") if one.is_file()]
    assert len(files) > 8
    for file in files:
        assert os.fsencode(tmp_path) not in file.read_bytes(), file


def test_a_trainlint_that_is_installed_again_knows_what_the_other_knew(
    checkout: Path, tmp_path: Path
) -> None:
    first = said(checkout)
    again = tmp_path / "site"
    for name in ("trainlint", "rules"):
        shutil.copytree(
            ROOT / name,
            again / name,
            copy_function=shutil.copyfile,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    assert said(checkout, again) == [*first[:-1], "known"]
    rule = again / "rules/tl101_softmax_before_cross_entropy/rule.py"
    rule.write_text(rule.read_text() + "\n")
    assert said(checkout, again)[-1] == "read"


def test_what_the_folder_remembers_of_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version_module._versions().clear()
    name = version(tmp_path / "a")
    [memory] = (tmp_path / "a").rglob("0" * 32)
    assert memory.read_text() == name
    monkeypatch.setattr(version_module, "_content", lambda: "f" * 16)
    version_module._versions().clear()
    assert version(tmp_path / "a") == name
    for damage in ("../../../x", "", "\u2028"):
        memory.write_text(damage, encoding="utf-8")
        version_module._versions().clear()
        assert version(tmp_path / "a") == "f" * 16
    version_module._versions().clear()
