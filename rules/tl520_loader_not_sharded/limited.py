"""Loops over a loader that end after so many batches: what an epoch costs does not depend on the number of ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.nodes import Body, Branch, Exit, Node
from trainlint.facts.model.training import Training


def ends_early(training: Training, drawn: Drawn) -> bool:
    """Whether a comparison ends the loop in which a batch is drawn."""
    loop = training.loops.get(drawn.loops[-1]) if drawn.loops else None
    if loop is None:
        return False
    return any(any(map(_leaves, one.then)) for one in _branches(loop.body) if _compares(one.key))


def _leaves(node: Node) -> bool:
    return isinstance(node, Exit) and node.kind == "break"


def _compares(condition: Any) -> bool:
    """Whether a condition compares sizes or counts: `seen >= most`, `count + 1 == 20`."""
    match condition:
        case ("<" | "<=" | ">" | ">=" | "==", *_):
            return True
        case ("and" | "or" | "not", *parts):
            return any(map(_compares, parts))
    return False


def _branches(nodes: Sequence[Node]) -> Iterator[Branch]:
    """The branches of a loop, without those of loops inside."""
    for node in nodes:
        if isinstance(node, Branch):
            yield node
            yield from _branches((*node.then, *node.otherwise))
        elif isinstance(node, Body):
            yield from _branches(node.body)
