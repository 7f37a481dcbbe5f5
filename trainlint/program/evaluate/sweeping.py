"""What of a file's body can still be asked for when it is done: the rest is forgotten, or a package fills the memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from typing import Any

from trainlint.facts.model.values import Value
from trainlint.program.evaluate.store import Layer
from trainlint.program.evaluate.values import Env


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    """What such a thing holds: `vars` would give each a dict of its own, for good."""
    return tuple(one.name for one in fields(kind))


def reachable(start: Iterable[object], made: Layer) -> set[int]:
    """The numbers of all scopes and values that some values lead to, through what they are made of and what they hold.

    Args:
        made: by number, the names of scopes and the attributes of values.
    """
    pending = list(start)
    seen: set[int] = set()
    while pending:
        one = pending.pop()
        match one:
            case Value() | Env() if one.uid not in seen:
                seen.add(one.uid)
                kind: Any = type(one)
                pending.extend(getattr(one, name) for name in _fields(kind))
                pending.extend(made.get(one.uid, {}).values())
            case tuple() | list():
                pending.extend(one)
            case dict():
                pending.extend(one.values())
    return seen
