"""How far positions reach, beside how many a table holds."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.ask.asking import question
from trainlint.facts.ask.sizes import is_same_size
from trainlint.facts.model.elements import plain
from trainlint.facts.model.values import Constant, Op, Value

_KEEPS = frozenset(
    "unsqueeze expand expand_as to long int repeat view reshape cuda clone contiguous broadcast_to".split()
)


@dataclass(frozen=True)
class Count:
    """A number of positions: what the program calls it, and what is added to that."""

    base: Value | None
    more: int

    def exceeds(self, other: Count) -> bool:
        """Whether this certainly is more than another."""
        if self.base is None or other.base is None:
            return self.base is other.base and self.more > other.more
        return is_same_size(self.base, other.base) and self.more > other.more


@question(start=None, unknown=None)
def counted(value: Value) -> Count | None:
    """A size as a count."""
    match value:
        case Constant(value=int() as number) if not isinstance(number, bool):
            return Count(value, 0) if value.is_default else Count(None, number)
        case Op(name="+" | "-", inputs=(first, Constant(value=int() as number))):
            inner = counted(first)
            return (
                Count(inner.base, inner.more + (number if value.name == "+" else -number)) if inner else None
            )
        case Op(name="call" | "framework"):
            return None
    return Count(value, 0)


@question(start=None, unknown=None)
def reach(value: Value | None) -> Count | None:
    """How many rows a table needs so that all positions are in it; None where a value is not known to be positions."""
    if not isinstance(value, Op) or not value.inputs:
        return None
    name = plain(value)
    if name == "arange":
        return (
            counted(value.inputs[1] if len(value.inputs) > 1 else value.inputs[0])
            if len(value.inputs) < 3
            else None
        )
    if name in _KEEPS:
        return reach(value.inputs[0])
    if name == "getitem":
        index = value.options.get("index")
        return reach(value.inputs[0]) if isinstance(index, Constant) and index.value is None else None
    if name == "+" and len(value.inputs) == 2:
        inner, step = reach(value.inputs[0]), value.inputs[1]
        if inner is not None and isinstance(step, Constant) and isinstance(step.value, int):
            return Count(inner.base, inner.more + step.value)
    return None
