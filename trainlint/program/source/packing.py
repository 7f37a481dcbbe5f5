"""Bodies of functions as bytes: of a large program, most are looked at once or never, and trees take ten times the room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from trainlint.program.source import shape
from trainlint.program.source import syntax as s


def drop_bodies(module: s.Module) -> None:
    """Forget the bodies of functions that are there as bytes too. Nobody may know parts of them by their identity."""
    for function in _functions(module.body):
        if hasattr(function, "packed"):
            with suppress(AttributeError):  # nobody has asked for it
                del function.body


def _functions(block: s.Block) -> Iterator[s.Function]:
    """The functions of a file and of its classes, without those inside of other functions."""
    for node in block:
        if isinstance(node, s.Function):
            yield node
        elif isinstance(node, s.Class):
            yield from _functions(node.body)
        else:
            for part in shape.blocks(node):
                yield from _functions(part)
