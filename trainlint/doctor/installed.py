"""What is installed beside trainlint. Nothing of it is imported: its metadata says what it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path

from trainlint import __version__
from trainlint.doctor.row import Row, Sections
from trainlint.errors import UsageError
from trainlint.project.own_rules import entry_points, installed
from trainlint.project.target import NEWEST
from trainlint.project.target import version as numbers
from trainlint.rules import rule_folders

_OLDEST_PYTHON, _OLDEST_TORCH = (3, 10), (2, 4)
_EXTRAS = {
    "watch": ("watchfiles", "--watch"),
    "server": ("pygls", "trainlint server"),
    "mcp": ("mcp", "trainlint mcp"),
}
"""What each extra is for, and the package that shows whether it is there."""
_FRAMEWORKS = (
    "accelerate",
    "lightning",
    "pytorch-lightning",
    "transformers",
    "trl",
    "deepspeed",
    "peft",
    "diffusers",
)


def installed_here() -> Sections:
    """Python, torch, extras, frameworks and packages of rules, in the environment of trainlint."""
    return {
        "Installed": [_own(), _python(), _torch(), *_extras(), _frameworks()],
        "Packages of rules": list(_packages()) or [Row("none", "no installed package brings rules")],
    }


def _own() -> Row:
    return Row("trainlint", f"{__version__}, in {Path(__file__).parents[1]}")


def _python() -> Row:
    newest = _newest_python()
    now = sys.version_info[:2]
    said = f"{sys.version.split()[0]}, {sys.executable}"
    if now < _OLDEST_PYTHON:
        return Row("Python", f"{said}: older than {_shown(_OLDEST_PYTHON)}, which trainlint needs", "wrong")
    if newest is not None and now > newest:
        return Row(
            "Python", f"{said}: newer than {_shown(newest)}, the newest that trainlint was tested on", "note"
        )
    return Row("Python", said)


def _newest_python() -> tuple[int, ...] | None:
    """The newest that the package says it is for, where there is a package and not only its source."""
    try:
        said = metadata("trainlint").get_all("Classifier") or []
    except PackageNotFoundError:
        return None
    versions = (
        one.rpartition(" :: ")[2] for one in said if one.startswith("Programming Language :: Python :: 3.")
    )
    return max((tuple(map(int, one.split("."))) for one in versions), default=None)


def _torch() -> Row:
    found = _version("torch")
    if found is None:
        return Row(
            "torch", "not installed: `check` needs none; `run` does: pip install 'trainlint[trace]'", "note"
        )
    try:
        number = numbers(found)[:2]
    except ValueError:
        return Row("torch", f"{found}, of which nothing is known", "note")
    if number < _OLDEST_TORCH:
        return Row("torch", f"{found}: too old to be recorded; `run` needs {_shown(_OLDEST_TORCH)}", "wrong")
    if number > NEWEST:
        return Row("torch", f"{found}: newer than {_shown(NEWEST)}, the newest that rules know", "note")
    return Row("torch", found)


def _extras() -> Iterator[Row]:
    for extra, (package, what) in _EXTRAS.items():
        found = _version(package)
        if found is None:
            yield Row(extra, f"not installed; for {what}: pip install 'trainlint[{extra}]'", "note")
        else:
            yield Row(extra, f"{package} {found}")


def _frameworks() -> Row:
    found = [f"{one} {there}" for one in _FRAMEWORKS if (there := _version(one)) is not None]
    return Row("frameworks", ", ".join(found) or "none; `check` needs none to judge code that uses them")


def _packages() -> Iterator[Row]:
    try:
        folders = list(installed())
    except UsageError as error:
        yield Row("rules", str(error), "wrong")
        return
    for (point, package), one in zip(entry_points(), folders, strict=True):
        count = len(rule_folders(Path(one.folder)))
        yield Row(
            package, f"entry point {point.name}: {count} {'rule' if count == 1 else 'rules'} in {one.folder}"
        )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _shown(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))
