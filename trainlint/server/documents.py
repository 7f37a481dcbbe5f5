"""What is open in the editor, as files that can be checked."""

from __future__ import annotations

import io
import os
import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

_LINE = re.compile(r"\r\n|\r|\n")
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Document:
    """One open file, at one moment."""

    uri: str
    path: str
    """Where it is, or would be if it were saved."""
    text: str
    version: int | None

    @cached_property
    def raw(self) -> bytes:
        """As it would be on disk, in the encoding that it declares."""
        as_utf8 = self.text.encode("utf-8", errors="replace")
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(as_utf8).readline)
            return self.text.encode(encoding, errors="replace")
        except (SyntaxError, LookupError):
            return as_utf8  # Python would not read it either, and says so

    @property
    def line_end(self) -> str:
        """The one that a new line gets."""
        found = _LINE.search(self.text)
        return found[0] if found is not None else "\n"

    @cached_property
    def lines(self) -> Sequence[str]:
        return lines_of(self.text)


def lines_of(text: str) -> Sequence[str]:
    """Lines as the protocol counts them, without their ends."""
    return _LINE.split(text.removeprefix(_BYTE_ORDER_MARK))


def document(open_one: TextDocument, folders: Iterable[str]) -> Document | None:
    """A document of the editor's; None if it is not Python, or stands for something else than a file."""
    scheme, _, name = open_one.uri.partition(":")
    path = to_fs_path(open_one.uri)
    if scheme == "untitled":  # it will be saved in the project, most likely
        path = os.path.join(next(iter(folders), os.getcwd()), name.replace("/", "-") or "untitled")
    elif path is None:
        return None
    if open_one.language_id not in ("python", None, "") and not path.endswith(".py"):
        return None
    if open_one.language_id in (None, "") and not path.endswith(".py"):
        return None
    return Document(open_one.uri, os.path.abspath(path), open_one.source, open_one.version)
