"""What is open in the editor, as files that can be checked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from trainlint.finding import Place, Problem
from trainlint.project.encodings import encoding_of

_LINE = re.compile(r"\r\n|\r|\n")
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Text:
    """What stands under one URI, at one moment: a file, or a cell of a notebook."""

    uri: str
    text: str
    version: int | None

    @property
    def line_end(self) -> str:
        """The one that a new line gets."""
        found = _LINE.search(self.text)
        return found[0] if found is not None else "\n"

    @cached_property
    def lines(self) -> Sequence[str]:
        return lines_of(self.text)


class Document(Protocol):
    """Something open that is checked as one file, at one moment."""

    @property
    def path(self) -> str:
        """Where it is, or would be if it were saved."""

    @property
    def texts(self) -> tuple[Text, ...]:
        """What it is made of."""

    @property
    def raw(self) -> bytes:
        """As it would be on disk."""

    @property
    def source(self) -> bytes:
        """Its Python."""

    @property
    def lines(self) -> Sequence[str]:
        """Those that places count through."""

    def located(self, at: Place) -> tuple[Text, Place]:
        """A place, in the text that it belongs to."""

    def text_of(self, problem: Problem) -> Text:
        """Where something keeps it from being read."""

    def takes(self, at: Place) -> bool:
        """Whether an edit can be made there."""


@dataclass(frozen=True)
class File:
    """An open file of Python."""

    path: str
    text: Text

    @property
    def texts(self) -> tuple[Text, ...]:
        return (self.text,)

    @cached_property
    def raw(self) -> bytes:
        """In the encoding that it declares."""
        text = self.text.text
        as_utf8 = text.encode("utf-8", errors="replace")
        try:
            return text.encode(encoding_of(as_utf8), errors="replace")
        except (SyntaxError, LookupError):
            return as_utf8  # Python would not read it either, and says so

    @property
    def source(self) -> bytes:
        return self.raw

    @property
    def lines(self) -> Sequence[str]:
        return self.text.lines

    def located(self, at: Place) -> tuple[Text, Place]:
        return self.text, at

    def text_of(self, problem: Problem) -> Text:
        return self.text

    def takes(self, at: Place) -> bool:
        return True


def lines_of(text: str) -> Sequence[str]:
    """Lines as the protocol counts them, without their ends."""
    return _LINE.split(text.removeprefix(_BYTE_ORDER_MARK))


def file(opened: TextDocument, folders: Iterable[str]) -> File | None:
    """A document of the editor's; None if it is not Python, or stands for something else than a file."""
    path = path_of(opened.uri, folders)
    if path is None:
        return None
    if opened.language_id not in ("python", None, "") and not path.endswith(".py"):
        return None
    if opened.language_id in (None, "") and not path.endswith(".py"):
        return None
    return File(path, Text(opened.uri, opened.source, opened.version))


def path_of(uri: str, folders: Iterable[str]) -> str | None:
    """Where a document is, or will be; None if it stands for something else than a file."""
    scheme, _, name = uri.partition(":")
    if scheme == "untitled":  # it will be saved in the project, most likely
        return os.path.join(next(iter(folders), os.getcwd()), name.replace("/", "-") or "untitled")
    path = to_fs_path(uri)
    return None if path is None else os.path.abspath(path)
