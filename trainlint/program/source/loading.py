"""One file's bytes to its module, or to what is wrong with it."""

from __future__ import annotations

import codecs

from trainlint import limits
from trainlint.finding import Problem
from trainlint.program.source import syntax as s
from trainlint.program.source.read import read
from trainlint.program.source.room import with_room
from trainlint.program.source.unreadable import Unreadable
from trainlint.project.encodings import encoding_of


@with_room
def load(path: str, data: bytes) -> s.Module | Problem:
    """Read one file."""
    if len(data) > limits.FILE_SIZE:
        return Problem(
            path,
            None,
            f"too large to be read: {len(data) / 1e6:.1f} MB, and {limits.FILE_SIZE / 1e6:.0f} MB is the most",
        )
    try:
        return read(decode(data))
    except Unreadable as error:
        return Problem(path, error.line, str(error))
    except (SyntaxError, UnicodeError, LookupError, ValueError) as error:
        return Problem(path, None, f"cannot be decoded: {error}")
    except Exception as error:
        return Problem(path, None, f"cannot be read, which is a bug in trainlint: {error!r}")


def decode(data: bytes) -> str:
    """The text of a source file, by its byte order mark or declared encoding. Line ends stay as they are."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError("it is UTF-16, and Python reads UTF-8")
    text = data.decode(encoding_of(data))
    if "\0" in text:
        raise ValueError("it contains a NUL byte")
    return text
