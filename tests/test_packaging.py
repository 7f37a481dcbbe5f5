"""What is installed: the wheel, built from the source distribution, holds the rules and nothing beside."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from trainlint import __version__
from trainlint.rules import entries

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site-packages")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(folder), str(wheel)], check=True, capture_output=True)
    return folder


def test_site_packages_gets_trainlint_alone(installed: Path) -> None:
    names = {path.name for path in installed.iterdir()} - {"bin"}
    assert names == {"trainlint", f"trainlint-{__version__}.dist-info"}


def test_wheel_holds_licence_pages_and_types(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {"trainlint/py.typed", "trainlint/unused_ignore.md"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    for entry in entries():
        assert f"trainlint/rules/{entry.folder.name}/README.md" in names


def test_wheel_holds_the_scaffold_of_a_rule(installed: Path) -> None:
    files = {one.name for one in (installed / "trainlint/rule_tests/scaffold").iterdir()}
    assert files == {"rule.py.txt", "README.md.txt", "bad.py.txt", "good.py.txt"}


def test_the_page_on_the_index_leads_to_the_site_and_the_repository(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        package = message_from_bytes(archive.read(name))
    urls = dict(one.split(", ", 1) for one in package.get_all("Project-URL", []))
    assert urls.keys() == {"Documentation", "Source", "Issues", "Changelog"}
    links = re.findall(r"\]\(([^)\s]+)\)", str(package.get_payload()))
    assert links
    for link in links:
        page = link.removeprefix(urls["Documentation"]).partition("#")[0].rstrip("/")
        file = link.removeprefix(f"{urls['Source']}/blob/HEAD/")
        inside = link.startswith(urls["Documentation"]) and (ROOT / f"docs/{page}.md").is_file()
        assert (
            inside or (file != link and (ROOT / file).is_file()) or not link.startswith(tuple(urls.values()))
        ), link
        assert link.startswith("https://")


def test_what_is_uploaded_passes_twine(wheel: Path) -> None:
    if importlib.util.find_spec("twine") is None:  # not imported: it reads its own metadata
        pytest.skip("needs twine, as the release workflow has it")
    files = [str(one) for one in wheel.parent.iterdir()]
    assert len(files) == 2
    ran = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout


def test_the_extension_is_of_this_version_and_this_repository() -> None:
    extension = json.loads((ROOT / "editors/vscode/package.json").read_text(encoding="utf-8"))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert extension["version"] == __version__
    assert f'Source = "{extension["repository"]["url"]}"' in project


def test_installed_rules_are_found_and_work(installed: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "trainlint", *arguments, "--output-format", "json"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert not ran.stderr
        return ran.stdout

    listed = [rule["code"] for rule in json.loads(run("rules"))["rules"]]
    assert listed == ["TL000", *(entry.code for entry in entries())]
    document = json.loads(run("check", "--no-cache", str(ROOT / "fixtures/first_look")))
    assert {finding["code"] for finding in document["findings"]} == {"TL101", "TL301"}


def test_the_module_that_runs_is_the_installed_one(installed: Path, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "import trainlint.rules as r; print(r.__file__, r.FOLDER)"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == [str(installed / "trainlint/rules.py"), str(installed / "trainlint/rules")]
