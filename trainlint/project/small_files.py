"""Files that people write by hand, such as configurations and ignore files: plain, and not long."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 1_000_000
"""Longer files are no lists that somebody has written."""


def text_of(file: Path | str, errors: str = "strict") -> str:
    """The text of a file, without its byte order mark. Raises UnicodeDecodeError, and OSError where it is no plain file (to read a pipe or a device
    may never end) or longer than `MOST_BYTES`."""
    status = os.stat(file)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a plain file")
    if status.st_size > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it is longer than {MOST_BYTES / 1e6:.0f} MB")
    return Path(file).read_text(encoding="utf-8-sig", errors=errors)
