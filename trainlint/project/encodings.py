"""How the text of a Python file is encoded."""

from __future__ import annotations

import codecs
import io
import re
import tokenize

_DECLARED = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*future[-_]fstrings\b", re.IGNORECASE)
"""A codec of a package that teaches an older Python newer syntax: to a newer one the file is plain UTF-8."""


def encoding_of(data: bytes) -> str:
    """The encoding that a file declares, or its byte order mark. Raises SyntaxError for one that nobody knows."""
    if adds_syntax(data):
        return "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0]


def adds_syntax(data: bytes) -> bool:
    """Whether a file declares an encoding that only adds syntax to UTF-8."""
    return any(_DECLARED.match(line) for line in data[:400].removeprefix(codecs.BOM_UTF8).splitlines()[:2])
