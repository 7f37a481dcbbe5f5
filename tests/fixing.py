"""`trainlint check` on real rules, in a folder of its own, and what its fixes make of a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Ran(NamedTuple):
    code: int
    stdout: bytes
    stderr: str

    @property
    def findings(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.stdout)["findings"]
        return found


Check = Callable[..., Ran]


def fixed(check: Check, text: str, *options: str) -> str:
    """What becomes of a file. A second run has to leave it alone."""
    file = Path("train.py")
    file.write_bytes(text.encode())
    check("--fix", *options, "train.py")
    once = file.read_bytes()
    check("--fix", *options, "train.py")
    assert file.read_bytes() == once
    return once.decode()
