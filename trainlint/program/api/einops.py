"""Functions of einops as the operations of torch that they stand for.

An equation that only adds axes of length 1 is as many `unsqueeze`, one that only changes their order a `permute`. Any other
is an operation of its own, `rearrange`.
"""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

from trainlint.facts.model.values import Constant, Value, constant
from trainlint.program.api import noting
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_NAMED_AXES = re.compile(r"[\w\s,]+->[\w\s]*")
_NEW = frozenset(("1", "()"))
"""How an axis of length 1 is written."""


def einsum(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`einsum(q, k, "batch i d, batch j d -> batch i j")`: torch has the equation first, and a letter for each axis."""
    if len(given.args) < 2 or given.open:
        return None
    said = constant(given.args[-1])
    letters = _letters(said) if isinstance(said, str) else None
    equation = Constant(value=letters) if letters is not None else ev.unknown()
    return noting.noted(ev, ev.op("einsum", (equation, *given.args[:-1]), at, text), at, "torch.einsum")


def _letters(equation: str) -> str | None:
    """An equation with one letter for each axis; None for one that does more than name axes."""
    if _NAMED_AXES.fullmatch(equation) is None:
        return None
    axes = dict.fromkeys(re.findall(r"\w+", equation))
    if len(axes) > len(string.ascii_letters):
        return None
    letter = dict(zip(axes, string.ascii_letters, strict=False))
    return re.sub(r"\w+", lambda found: letter[found[0]], equation)


def rearrange(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`rearrange(mask, "b j -> b 1 1 j")`."""
    if not given.args or given.open:
        return None
    said = constant(given.get(1, "pattern"))
    before, after = _sides(said) if isinstance(said, str) else ((), ())
    made = given.args[0]
    added = [number for number, one in enumerate(after) if one in _NEW]
    if before and added and before == tuple(one for one in after if one not in _NEW):
        for number in added:
            made = ev.op("unsqueeze", (made, Constant(value=number)), at, text)
        return made
    if before and not added and before != after and sorted(before) == sorted(after):
        order = tuple(Constant(value=before.index(one)) for one in after)
        return ev.op("permute", (made, *order), at, text)
    return ev.op("rearrange", given.args, at, text, given.options)


def _sides(pattern: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The axes before and after; none at all where some are put together or taken apart."""
    before, arrow, after = pattern.partition("->")
    first, second = tuple(before.split()), tuple(after.split())
    is_plain = arrow and all(one in _NEW or one.isidentifier() for one in (*first, *second))
    return (first, second) if is_plain else ((), ())
