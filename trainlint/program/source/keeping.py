"""Functions that keep what they make beyond the call: in a variable of the module, or behind a cache."""

from __future__ import annotations

from trainlint.program.source import syntax as s
from trainlint.program.source.walking import walk

_CACHES = frozenset(("cache", "lru_cache", "cached_property"))


def keeps_what_it_makes(function: s.Function) -> bool:
    """Whether a function sets a global variable, or an entry of a container of its module, or its results are cached."""
    if is_cached(function):
        return True
    own = {one.name for one in function.parameters}
    containers: set[str] = set()
    for node in walk(function.body):
        if isinstance(node, s.Scope):
            return True
        if isinstance(node, s.Assign):
            own.update(one.name for one in node.targets if isinstance(one, s.Name))
            containers.update(_container(one) for one in node.targets if isinstance(one, s.Subscript))
    return bool(containers - own - {""})


def is_cached(function: s.Function) -> bool:
    """Whether a decorator keeps what a function has given for the same arguments."""
    return any(_last_name(one) in _CACHES for one in function.decorators)


def _last_name(node: s.Expr) -> str:
    if isinstance(node, s.Call):
        node = node.func
    return node.name if isinstance(node, (s.Name, s.Attribute)) else ""


def _container(node: s.Expr) -> str:
    """The variable of `variable[…][…]`; empty for anything else."""
    while isinstance(node, s.Subscript):
        node = node.value
    return node.name if isinstance(node, s.Name) else ""
