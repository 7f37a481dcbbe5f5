"""Expressions whose value is shown where a program is run piece by piece: nobody throws it away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.program.source import syntax as s

_END_OF_CELL = re.compile(
    r"[ \t)]*(?:#[^\r\n]*)?\s*?(?:[\r\n][ \t]*(?:#(?![ \t]*%%)[^\r\n]*)?)*[\r\n]#[ \t]*%%"
)
"""Nothing but blank lines and comments up to the `# %%` that begins another cell."""

_LOOKED_AT = (s.Name, s.Attribute, s.Subscript, s.Operation)


def displayed(body: s.Block, text: str) -> s.Block:
    """The body of a file, with values that are shown in tuples of their own."""
    shown = {
        number
        for number, one in enumerate(body)
        if isinstance(one, s.Evaluate)
        and (_is_before_ellipsis(body, number) or _END_OF_CELL.match(text, one.at[1]))
    }
    for run in _runs(body):
        if any(isinstance(body[number].value, _LOOKED_AT) for number in run):  # type: ignore[union-attr]
            shown.update(run)
    if not shown:
        return body
    return tuple(
        s.Evaluate(s.Collection("tuple", (one.value,), one.at), one.at)
        if number in shown and isinstance(one, s.Evaluate)
        else one
        for number, one in enumerate(body)
    )


def _is_before_ellipsis(body: s.Block, number: int) -> bool:
    """Whether `...` stands behind: it marks the last expression of a notebook's cell."""
    after = body[number + 1] if number + 1 < len(body) else None
    return isinstance(after, s.Evaluate) and isinstance(after.value, s.Constant) and after.value.value is ...


def _runs(body: s.Block) -> Iterator[list[int]]:
    """Expressions that follow each other, as in lines that were typed to look at what they give."""
    run: list[int] = []
    for number, one in enumerate(body):
        if isinstance(one, s.Evaluate) and one.at == one.value.at:  # and no `assert`
            run.append(number)
        elif run:
            yield run
            run = []
    if run:
        yield run
