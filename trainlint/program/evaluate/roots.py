"""What has happened from one entry point on."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.facts.model.nodes import Node
from trainlint.facts.model.training import Earlier
from trainlint.facts.model.values import Object
from trainlint.program.evaluate.store import Changes, Layer
from trainlint.program.evaluate.uses import Trace


class Root(NamedTuple):
    """What happened from one entry point on, what was made, used, and changed that others had made."""

    nodes: list[Node]
    objects: list[Object]
    trace: Trace
    changes: Changes
    made: Layer
    """What the things that it made hold, if that is kept."""
    earlier: Earlier = Earlier()

    def release(self) -> None:
        """Forget what has happened: it has been judged."""
        self.nodes.clear()
        self.objects.clear()
        self.changes.clear()

    def lose(self) -> None:
        """Say nothing of what has happened: it is not all."""
        self.nodes.clear()
        self.objects.clear()
        self.trace.reached.clear()
        self.trace.limits.add("ENTRY_STEPS")
