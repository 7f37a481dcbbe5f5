"""The Python files of a tree, and copies of them."""

from __future__ import annotations

import shutil
from pathlib import Path

_SKIPPED = {".git", ".venv", "venv", "build", "dist", "node_modules", "site-packages", "__pycache__"}


def python_files(tree: Path) -> list[Path]:
    return sorted(
        file
        for file in tree.rglob("*.py")
        if file.is_file() and _SKIPPED.isdisjoint(file.relative_to(tree).parts)
    )


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n")


def copy(tree: Path, into: Path) -> list[Path]:
    """Copy the Python files of a tree, and nothing else."""
    copies = []
    for file in python_files(tree):
        target = into / file.relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        copies.append(target)
    return copies
