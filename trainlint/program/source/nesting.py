"""How deeply a text nests, told before it is parsed.

libcst's parser is native code: it dies of a stack overflow, and takes the process with it, where Python
would raise. Python itself gives up at 200 brackets.
"""

from __future__ import annotations

import re

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
            return len(re.findall(r"\r\n|\r|\n", text[: match.start()])) + 1
    return None
