"""`trainlint check` runs where torch is missing, broken or slow to import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_check_never_imports_torch() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "trainlint", "check", "--no-cache", str(ROOT / "fixtures/first_look")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "fixtures/poison")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    assert "TL101" in ran.stdout


def test_the_poison_works() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "import torch"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "fixtures/poison")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "trainlint check must not import torch" in ran.stderr
