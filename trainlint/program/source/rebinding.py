"""Variables of loops that are given another value, which nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.program.source import syntax as s
from trainlint.program.source.walking import walk


def lost(node: s.For, around: s.Block) -> Iterator[tuple[s.Assign, str]]:
    """The assignments in a loop of a function that make a variable of the loop something else of what it was, and after which no
    code of the function reads it."""
    own = {one.name for one in walk((node.target,)) if isinstance(one, s.Name)}
    for assign in _assigned(node.body):
        name = assign.targets[0].name if isinstance(assign.targets[0], s.Name) else ""
        if name in own and len(assign.targets) == 1 and not _is_read(name, assign, node, around):
            yield assign, name


def _assigned(block: s.Block) -> Iterator[s.Assign]:
    """What is assigned in a block, not under conditions and in no loop inside."""
    for one in block:
        if isinstance(one, s.Assign) and one.value is not None:
            yield one
        elif isinstance(one, s.With):
            yield from _assigned(one.body)


def _is_read(name: str, assign: s.Assign, node: s.For, around: s.Block) -> bool:
    """Whether code reads a name after it is assigned: in the loop, or anywhere else in the function."""
    inside = _named(name, node.body)
    is_made_of_itself = assign.value is not None and bool(_named(name, (assign.value,)))
    if not is_made_of_itself or any(one.at[0] > assign.at[1] for one in inside):
        return True
    return len(_named(name, around)) > len(inside) + len(_named(name, (node.target,)))


def _named(name: str, block: s.Block | tuple[s.Expr, ...]) -> list[s.Name]:
    return [one for one in walk(block) if isinstance(one, s.Name) and one.name == name]
