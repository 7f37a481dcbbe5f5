"""What a function returns, as it is written: the names alone, so that an edit of its body mostly changes nothing."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.program.source import syntax as s
from trainlint.program.source.walking import walk


class Returned(NamedTuple):
    """One `return`: the names of a tuple, None for what is no name; or a plain name; or whether it is a call."""

    names: tuple[str | None, ...] = ()
    name: str | None = None
    is_call: bool = False


def returned(code: s.Function) -> frozenset[Returned]:
    """What the `return`s of a function are; nothing of a generator."""
    if code.is_generator:
        return frozenset()
    every = (one.value for one in walk(code.body, nested=False) if isinstance(one, s.Return))
    return frozenset(map(_of, every))


def _of(value: s.Expr | None) -> Returned:
    match value:
        case s.Collection(items=items):
            return Returned(names=tuple(one.name if isinstance(one, s.Name) else None for one in items))
        case s.Name(name=name):
            return Returned(name=name)
    return Returned(is_call=isinstance(value, s.Call))
