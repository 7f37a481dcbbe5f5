"""How deeply a text nests, told before it is parsed.

libcst's parser is native code: it dies of a stack overflow, and takes the process with it, where Python
would raise. Python itself gives up at 200 brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE_END = re.compile(r"\r\n|\r|\n")
_BRACKETS = 100
_PATTERN_BRACKETS = 12
"""In a `case`: libcst's time doubles with each."""
_LINKS = 500
"""Of one expression: operators, attributes, calls. libcst's time grows with their square."""

_MARK = re.compile(
    r"""
    \#[^\n\r]* | \\(?:\r\n|\r|\n)
  | (?P<open>[(\[{]) | (?P<close>[)\]}])
  | (?P<link> '''(?:[^\\]|\\.)*?''' | \"\"\"(?:[^\\]|\\.)*?\"\"\" | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*"
            | \blambda\b[^:\n]*: | \b(?:and|or|not|in|is|if|else|for|await)\b | [-+*/%@&|^~<>.] )
  | (?P<fresh> (?:^|[\r\n;])[ \t]*(?P<statement>case|class|def|del|import|raise|return|try|while|with)\b )
  | (?P<separator>[,;\r\n])
    """,
    re.VERBOSE | re.DOTALL,
)


def too_deep(text: str) -> int | None:
    """The line where a text nests more than can be read; None if it does not."""
    if all(_depth_exceeded_at(line) is None for line in _suspects(text)):
        return None
    at = _depth_exceeded_at(text)
    return None if at is None else len(_LINE_END.findall(text[:at])) + 1


def _suspects(text: str) -> Iterator[str]:
    """The logical lines that may nest too much, by their length and brackets. Some are cut, or are more than one, where
    brackets stand in strings and comments."""
    lines: list[str] = []
    length = depth = opened = 0
    for line in text.splitlines():
        opens = line.count("(") + line.count("[") + line.count("{")
        depth += opens - line.count(")") - line.count("]") - line.count("}")
        opened += opens
        length += len(line)
        lines.append(line)
        if depth <= 0 and not line.endswith("\\"):
            if length > _LINKS or opened > _PATTERN_BRACKETS:
                yield "\n".join(lines)
            lines.clear()
            length = depth = opened = 0
    if lines:
        yield "\n".join(lines)


def _depth_exceeded_at(text: str) -> int | None:
    """The offset from which on it does."""
    levels = [0]  # links since the last comma, for each open bracket
    total = 0
    deepest = _BRACKETS
    for match in _MARK.finditer(text):
        kind = match.lastgroup
        if kind == "link":
            levels[-1] += 1
            total += 1
        elif kind == "open":
            levels.append(0)
        elif kind == "close":
            if len(levels) > 1:
                total -= levels.pop()
            levels[-1] += 1
            total += 1
        elif kind == "separator":
            if match.group() == "," or len(levels) == 1:
                total -= levels[-1]
                levels[-1] = 0
                if match.group() != ",":
                    deepest = _BRACKETS
        elif kind is not None:
            levels, total = [0], 0
            deepest = _PATTERN_BRACKETS if match["statement"] == "case" else _BRACKETS
        if total > _LINKS or len(levels) > deepest:
            return match.start()
    return None
