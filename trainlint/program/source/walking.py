"""Every node of a small tree, in the order of the source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from typing import Any

from trainlint.program.source import syntax as s


def walk(
    block: s.Block | tuple[s.Expr | None, ...],
    *,
    nested: bool = True,
    leaves_out: Callable[[Any], bool] | None = None,
) -> Iterator[Any]:
    """All statements and expressions of a block, or of expressions.

    Args:
        nested: whether those of nested functions and classes are among them.
        leaves_out: says which of them are not, with all that is in them.
    """
    pending: list[Any] = [block]
    while pending:
        node = pending.pop()
        if isinstance(node, tuple):
            pending.extend(reversed(node))
            continue
        kind: Any = type(node)
        if (names := _parts(kind)) and not (leaves_out is not None and leaves_out(node)):
            yield node
            if nested or not isinstance(node, (s.Function, s.Class)):
                pending.extend(getattr(node, name) for name in names)


@cache
def _parts(kind: Any) -> tuple[str, ...]:
    """The fields of a kind of node that may hold other nodes, the last first; none for what is no node."""
    if kind.__module__ != s.__name__:
        return ()
    return tuple(
        one.name for one in reversed(fields(kind)) if one.name not in ("at", "names", "imports", "lines")
    )
