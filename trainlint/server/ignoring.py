"""Comments that silence a finding, as edits of its file."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Mapping, Sequence

from trainlint.check.ignore import Comment, comments
from trainlint.finding import Edit, Finding, Place

_BEFORE_CODE = re.compile(r"#!|[ \t\f]*#.*?coding[:=]")
"""Lines that have to stay first: they say how the file is run and read."""


def ignore_here(finding: Finding, raw: bytes, lines: Sequence[str], names: Mapping[str, str]) -> Edit | None:
    """At the end of the finding's line, or of the statement that it stands in, where a comment can stand there."""
    path, at = finding.at.path, finding.at
    known = [one for one in comments(path, raw) if one.verb == "ignore" and one.covers(at)]
    for comment in known:
        if comment.rules:
            return _added(comment, finding.code)
    for number in (at.line, _last_line(raw, at.line)):
        line = lines[number - 1]
        if line.endswith("\\"):
            continue  # nothing may follow it
        text = f"{'  ' if line.rstrip() == line else ''}# trainlint: ignore[{finding.code}]"
        after = "\n".join([*lines[: number - 1], line + text, *lines[number:]])
        if any(any(one.silencing(finding, names)) for one in comments(path, after.encode(errors="replace"))):
            return Edit(Place(path, number, len(line) + 1, number, len(line) + 1), text)
    return None


def _last_line(raw: bytes, line: int) -> int:
    """Where the statement ends that stands on a line."""
    try:
        for token in tokenize.tokenize(io.BytesIO(raw).readline):
            if token.type == tokenize.NEWLINE and token.start[0] >= line:
                return token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass
    return line


def ignore_in_file(
    finding: Finding, raw: bytes, lines: Sequence[str], takes: Callable[[Place], bool]
) -> Edit | None:
    """In a comment at the top; one that is there already takes one more rule.

    Args:
        takes: whether what stands somewhere can be edited.
    """
    path = finding.at.path
    for comment in comments(path, raw):
        if comment.verb == "ignore-file" and comment.rules:
            return _added(comment, finding.code)
    first = max((number for number, line in enumerate(lines[:2], 1) if _BEFORE_CODE.match(line)), default=0)
    for number, line in enumerate(lines[first:], first + 1):
        if takes(Place(path, number, 1, number, len(line) + 2)):
            return Edit(Place(path, number, 1, number, 1), f"# trainlint: ignore-file[{finding.code}]\n")
    return None


def _added(comment: Comment, code: str) -> Edit:
    """One more rule between the brackets of a comment."""
    rules = ", ".join([*(comment.rules or ()), code])
    reason = f" {comment.rest.strip()}" if comment.rest.strip() else ""
    return Edit(comment.at, f"# trainlint: {comment.verb}[{rules}]{reason}")
