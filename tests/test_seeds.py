"""The accounts that trainlint began with: every cause that they name is found where `docs/seeds.md` says."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.warm import ROOT, python

PROJECT = re.compile(r"`(fixtures/seeds/\w+)`(?:, run as `([^`]+)`)?")
ROW = re.compile(r"^\| [^|]+ \| (TL\d+) \| ([\w.]+:\d+|-) \| ([\w-]+) \|$", re.MULTILINE)
VERDICTS = ("confirmed", "observed", "undecided", "not-reached")


class Told(NamedTuple):
    """A row of the page: a rule, the place that it is found at in the source, and its verdict in a run."""

    code: str
    place: str | None
    verdict: str | None


class Seed(NamedTuple):
    """A section of the page: its project, how it is run, and its rows."""

    folder: str
    run: str | None
    told: list[Told]


def seeds() -> list[Seed]:
    found = []
    for section in (ROOT / "docs" / "seeds.md").read_text().split("\n## ")[1:]:
        named = PROJECT.search(section)
        assert named is not None, section
        rows = [
            Told(code, place if ":" in place else None, verdict if verdict in VERDICTS else None)
            for code, place, verdict in ROW.findall(section)
        ]
        found.append(Seed(named[1], named[2], rows))
    return found


def findings(seed: Seed, folder: Path, *command: str) -> list[dict[str, Any]]:
    shutil.copytree(ROOT / seed.folder, folder, dirs_exist_ok=True)
    report = folder / "report.json"
    options = ["--select", "ALL", "--no-cache", "--output-format", "json", "--output-file", str(report)]
    ran = python(["-m", "trainlint", command[0], *options, *command[1:]], folder)
    assert report.exists(), ran.stderr
    told = {one.code for one in seed.told}
    found: list[dict[str, Any]] = json.loads(report.read_text())["findings"]
    return [one for one in found if one["level"] != "info" or one["code"] in told]


def test_every_project_has_its_section() -> None:
    assert {seed.folder for seed in seeds()} == {
        f"fixtures/seeds/{one.name}" for one in (ROOT / "fixtures" / "seeds").iterdir()
    }
    assert all(any(one.place for one in seed.told) for seed in seeds())


@pytest.mark.parametrize("seed", seeds(), ids=lambda seed: Path(seed.folder).name)
def test_the_source_shows_what_is_told(seed: Seed, tmp_path: Path) -> None:
    found = {(one["code"], f"{one['path']}:{one['line']}") for one in findings(seed, tmp_path, "check")}
    told = {(one.code, one.place) for one in seed.told if one.place is not None}
    assert {one for one in found if one[0] != "TL510"} == {one for one in told if one[0] != "TL510"}
    assert told <= found


@pytest.mark.parametrize(
    "seed", [one for one in seeds() if one.run is not None], ids=lambda seed: Path(seed.folder).name
)
def test_a_run_shows_what_is_told(seed: Seed, tmp_path: Path) -> None:
    assert seed.run is not None
    found = findings(seed, tmp_path, "run", "--trace", *seed.run.split())
    judged = {(one["code"], one["verdict"]) for one in found if one["verdict"] is not None}
    assert judged == {(one.code, one.verdict) for one in seed.told if one.verdict is not None}
