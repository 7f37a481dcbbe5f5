"""Where a command's output goes: to a file, or to standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from trainlint.output.style import Piece, plain
from trainlint.output.writing import write_file, write_pieces


def deliver(pieces: Iterable[Piece], file: Path | None, to: TextIO | None = None) -> None:
    """`to`: a stream instead of standard output."""
    if file is None:
        write_pieces(pieces, to or sys.stdout)
    else:
        write_file(file, plain(pieces))
