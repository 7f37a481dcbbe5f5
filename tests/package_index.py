"""Tests that have pip build an environment need an index of packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def skip_without_index(folder: Path) -> None:
    """Skip the test if pip cannot get what builds this project. What it gets goes into the folder."""
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--retries",
            "0",
            "-d",
            ".",
            "hatchling",
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        pytest.skip(f"pip reaches no package index: {ran.stderr.strip().splitlines()[-1]}")
