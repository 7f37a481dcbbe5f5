"""The bytes of the files of a program, each read once."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from hashlib import blake2b

Fingerprint = tuple[str, str]
"""A path, and the hash of what is in the file."""

MOST_BYTES = 100_000_000
"""Of one file: more than any notebook has with its pictures."""


class Contents:
    """Files by path: from disk, or as they were given (an editor's buffer, standard input)."""

    def __init__(self, given: Mapping[str, bytes]) -> None:
        self._bytes: dict[str, bytes] = dict(given)
        self._hashes: dict[str, str] = {}

    def get(self, path: str) -> bytes:
        """Raises OSError where the file cannot be read."""
        if path not in self._bytes:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):
                raise OSError("not a file")  # a folder, or a pipe that would be waited for
            if status.st_size > MOST_BYTES:
                size = f"{status.st_size / 1e6:.0f} MB, and {MOST_BYTES / 1e6:.0f} MB is the most"
                raise OSError(errno.EFBIG, f"it is too large: {size}")
            with open(path, "rb") as file:
                self._bytes[path] = file.read()
        return self._bytes[path]

    def hash(self, path: str) -> str:
        """Of the content; an empty string where it cannot be read."""
        if path not in self._hashes:
            try:
                self._hashes[path] = blake2b(self.get(path), digest_size=16).hexdigest()
            except OSError:
                self._hashes[path] = ""
        return self._hashes[path]

    def fingerprints(self, paths: Iterable[str]) -> list[Fingerprint]:
        return [(path, self.hash(path)) for path in paths]

    def unchanged(self, fingerprints: Iterable[Fingerprint]) -> bool:
        """Whether files still are what they were."""
        return all(self.hash(path) == known for path, known in fingerprints)
