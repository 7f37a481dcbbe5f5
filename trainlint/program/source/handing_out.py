"""Functions that make something, as a model of a certain size, and do nothing with it but hand it out."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.program.source import syntax as s
from trainlint.program.source.walking import walk

_OF_DICTS = frozenset("get pop setdefault update copy items keys".split())
"""Methods of keyword arguments, which no model has."""


def hands_out(body: s.Block, parameters: tuple[s.Parameter, ...]) -> bool:
    """Whether a function calls nothing that it has made or was handed, and returns at its end."""
    if not body or not isinstance(body[-1], s.Return) or not _only_makes(body):
        return False
    nodes = list(walk(body))
    own = {one.name for one in parameters} - {"cls"}
    own |= {name for one in nodes if isinstance(one, s.Assign) for name in _bound(one)}
    return all(_is_of_others(one.func, own) for one in nodes if isinstance(one, s.Call))


def _only_makes(block: s.Block) -> bool:
    for one in block:
        match one:
            case s.Return() | s.Raise() | s.Evaluate(value=s.Constant()):
                continue
            case s.Evaluate(value=s.Call(func=s.Attribute(name=method))) if method in _OF_DICTS:
                continue
            case s.Assign(targets=targets) if all(isinstance(to, (s.Name, s.Subscript)) for to in targets):
                continue
            case s.If(body=body, orelse=orelse) if _only_makes(body) and _only_makes(orelse):
                continue
        return False
    return True


def _bound(node: s.Assign) -> Iterator[str]:
    return (one.name for one in node.targets if isinstance(one, s.Name))


def _is_of_others(func: s.Expr, own: set[str]) -> bool:
    """Whether it is certain that a call runs no model that the function has."""
    match func:
        case s.Name(name=name):
            return name not in own
        case s.Attribute(value=s.Name(name=name), name=method):
            return name not in own or method in _OF_DICTS
    return False
