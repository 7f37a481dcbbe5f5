"""The quick selection names files that are there."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import QUICK


def test_each_name_is_a_file() -> None:
    assert {one.stem for one in Path(__file__).parent.glob("test_*.py")} >= QUICK
