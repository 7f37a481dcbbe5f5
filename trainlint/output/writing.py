"""Text on its way out: to a stream that may close early, or to a file that is never half written."""

from __future__ import annotations

import io
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from trainlint.errors import UsageError
from trainlint.output.style import Piece, coloured, plain


def write_pieces(pieces: Iterable[Piece], stream: TextIO) -> None:
    """In colour and with links where the stream is a terminal; NO_COLOR and FORCE_COLOR decide before that."""
    write(coloured(pieces, links=wants_links(stream)) if wants_colour(stream) else plain(pieces), stream)


def write(text: str, stream: TextIO) -> None:
    """A reader that has gone away is no error; what the stream cannot encode is escaped."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    with _output(stream):
        stream.write(text)
        stream.flush()


def write_raw(content: bytes, stream: TextIO) -> None:
    """The same, for bytes that have to stay what they are."""
    with _output(stream):
        stream.flush()
        stream.buffer.write(content)
        stream.flush()


@contextmanager
def _output(stream: TextIO) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        with open(os.devnull, "w") as nowhere:  # so that Python's own flush at exit succeeds
            os.dup2(nowhere.fileno(), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise UsageError(f"the output cannot be written: {error.strerror}") from error


def wants_colour(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wants_links(stream: TextIO) -> bool:
    """Whether words can be clicked: FORCE_HYPERLINK decides, then whether the stream is a terminal that has windows."""
    forced = os.environ.get("FORCE_HYPERLINK")
    if forced:
        return forced != "0"
    return stream.isatty() and os.environ.get("TERM") not in ("dumb", "linux")


def write_file(path: Path, text: str) -> None:
    """Replace the file at once, or leave it as it was and raise UsageError."""
    write_bytes(path, text.encode("utf-8", errors="backslashreplace"))


def write_bytes(path: Path, content: bytes) -> None:
    """Replace the file at once, or leave it as it was and raise UsageError. Of a link, the target is replaced."""
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(content)  # a device or a pipe: there is nothing to replace
        else:
            _replace(target, content)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error


def check_writable(path: Path) -> None:
    """Raise the UsageError of `write_file` before there is anything to write, as far as that can be known."""
    folder = path.resolve().parent
    if path.is_dir():
        raise UsageError(f"{path}: cannot be written: it is a folder")
    if not folder.is_dir():
        raise UsageError(f"{path}: cannot be written: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise UsageError(f"{path}: cannot be written: no permission")


def _replace(target: Path, content: bytes) -> None:
    temporary = target.parent / f".{target.name}.{secrets.token_hex(8)}"
    try:  # from before it is there: Ctrl-C may come at any moment
        with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(content)
        if target.exists() and hasattr(os, "chown"):
            with suppress(OSError):  # who may write a file need not be able to give one away
                os.chown(temporary, target.stat().st_uid, target.stat().st_gid)
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those that a new file gets."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def complain(message: str) -> None:
    """One line, whatever stands in the names that it quotes."""
    from trainlint.output.printable import printable

    write_pieces([Piece("error:", "error"), Piece(f" {printable(message)}\n")], sys.stderr)
