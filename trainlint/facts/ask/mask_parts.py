"""What a mask holds: at what is to be seen, and at what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trainlint.facts.model.elements import Element
from trainlint.facts.model.values import Value
from trainlint.finding import Place


@dataclass(frozen=True)
class Part:
    """What a mask is meant to leave out, and what it holds there.

    Args:
        kind: `later` positions, or `padding`.
        held: what the mask holds at what is to be left out.
        last: for `later`, the last position after a query's own that does not count as later: 0 as a rule.
        is_square: whether there certainly are as many queries as keys.
        is_named: for `padding`, whether the program calls it that.
        at: where it comes from.
        is_told_by_name: whether only the name says what it holds: `batch["attention_mask"]`.
    """

    kind: str
    origin: int
    held: Element
    last: int | None = 0
    is_square: bool = False
    is_named: bool = False
    at: Place | None = None
    text: str = ""
    is_told_by_name: bool = False

    @property
    def _key(self) -> tuple[Any, ...]:
        return (self.kind, self.last if self.kind == "later" else self.origin)

    def is_same(self, other: Part) -> bool:
        """Whether two parts leave out the same."""
        return self._key == other._key


@dataclass(frozen=True)
class Mask:
    """What a mask holds.

    Args:
        kept: at what is to be seen.
        parts: what it leaves out; none for a tensor that is the same everywhere.
        size: of a tensor that is the same everywhere.
    """

    kept: Element
    parts: tuple[Part, ...] = ()
    size: tuple[Value, ...] = ()

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known of what it holds."""
        return self.kept is None and not self.parts

    def at(self, part: Part) -> Element:
        """What it holds where a part leaves something out."""
        own = next((one for one in self.parts if one.is_same(part)), None)
        if own is not None:
            return own.held
        return None if self.parts else self.kept
