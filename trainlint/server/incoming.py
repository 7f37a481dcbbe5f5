"""The client's messages as bytes: one that is not well-formed costs itself, and not those after it."""

from __future__ import annotations

from io import RawIOBase
from typing import BinaryIO, cast

from trainlint.errors import UsageError

_LENGTH = b"Content-Length:"
_LARGEST = 1 << 30
"""Bytes of one message; no document of this size is ever checked."""


class Incoming(RawIOBase):
    """A stream in which a header may stand behind what is left of a message before."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self, size: int | None = -1, /) -> bytes:
        line = self._stream.readline(-1 if size is None else size)
        return line[max(line.rfind(_LENGTH), 0) :]

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _LARGEST:
            raise UsageError(f"the client announces a message of {size:,} bytes")
        return self._stream.read(-1 if size is None else size)


def incoming(stream: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, Incoming(stream))
