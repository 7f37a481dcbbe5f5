"""What an entry point makes use of while it is evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field

Code = tuple[str, int]
"""A function: its file, and the offset where it begins."""


@dataclass
class Trace:
    uses: set[str] = field(default_factory=set)
    """Files of which it has seen what their bodies leave."""
    lists: set[str] = field(default_factory=set)
    """Files of which it has seen which names they have, by a star import."""
    reached: set[Code] = field(default_factory=set)
    """Functions that it has called."""
    code: set[Code] = field(default_factory=set)
    """Functions whose code it has looked at, those that it has called among them."""
    asked: set[str] = field(default_factory=set)
    """Attributes of which it has asked whether any code reads them."""
    tables: set[str] = field(default_factory=set)
    """Dicts of other files that it has seen: yet others may have filled them, as registries are filled."""
    fills: set[str] = field(default_factory=set)
    """Dicts of other files that it has filled."""
    limits: set[str] = field(default_factory=set)
    """Limits that it has reached, by their names."""

    def add(self, other: Trace) -> None:
        self.uses |= other.uses
        self.lists |= other.lists
        self.reached |= other.reached
        self.code |= other.code
        self.asked |= other.asked
        self.tables |= other.tables
        self.fills |= other.fills
        self.limits |= other.limits
