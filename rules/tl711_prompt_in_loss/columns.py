"""Columns of instruction data, by their names."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.values import Op, Unknown, Value, Written, constant

ASKS = frozenset("instruction prompt question query problem input user".split())
ANSWERS = frozenset("output response answer completion solution assistant".split())
"""Columns of instruction data."""

_MOST = 400


def columns(values: Iterable[Value]) -> set[str]:
    """The columns of a sample that go into some values."""
    return {name for one in reached(values, _written, _MOST) if (name := column(one)) is not None}


def column(value: Value) -> str | None:
    """The column that a value is, if it is one."""
    if not isinstance(value, Op) or value.name != "getitem":
        return None
    name = constant(value.option(1, "index"))
    return name if isinstance(name, str) else None


def _written(value: Value) -> Iterable[Value]:
    if isinstance(value, Written):
        return value.fields
    return () if isinstance(value, Unknown) else value.parts()
