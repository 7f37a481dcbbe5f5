"""What a running program holds: in its variables, and in the lists, dicts and objects that are there. No code of its own is run: `isinstance` would ask an object for
its class."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

import torch

from trainlint.trace.watch.own_code import OwnCode

_DEEPEST = 4
_MOST_VALUES = 2000
_MOST_ITEMS = 64
_DICTS = (dict, OrderedDict, defaultdict)
_KEYS = (str, int, bool, float)
_LEAVES = (type, str, bytes, int, float, complex, torch.Tensor, torch.nn.Module)


def held_values(frame: FrameType | None, own: OwnCode) -> Iterator[tuple[str, Any]]:
    """Everything that the frames of the program hold, each once, with what the program would write for it."""
    pending: deque[tuple[str, Any, int]] = deque()
    scopes: set[int] = set()
    while (frame := own.innermost(frame)) is not None:
        for scope in (frame.f_locals, frame.f_globals):
            if id(scope) not in scopes:
                scopes.add(id(scope))
                pending.extend((name, one, 0) for name, one in list(scope.items()) if name[:2] != "__")
        frame = frame.f_back
    seen: set[int] = set()
    while pending and len(seen) < _MOST_VALUES:
        name, value, depth = pending.popleft()
        if id(value) in seen or issubclass(type(value), ModuleType):
            continue
        seen.add(id(value))
        yield name, value
        if depth < _DEEPEST and not issubclass(type(value), _LEAVES):
            pending.extend((part, one, depth + 1) for part, one in parts(name, value))


def parts(name: str, value: Any, most: int = _MOST_ITEMS) -> list[tuple[str, Any]]:
    """What a list, a dict or an object holds, each with what the program would write for it."""
    if type(value) in (tuple, list, deque):
        return [(f"{name}[{number}]", one) for number, one in enumerate(list(value)[:most])]
    if type(value) in _DICTS:
        return [(f"{name}[{_key(key)}]", one) for key, one in list(value.items())[:most]]
    if type(value).__module__ == "builtins" or callable(value):
        return []
    return [(f"{name}.{key}", one) for key, one in list(_attributes(value).items())[:most]]


def _key(key: object) -> str:
    """A key as the program writes it; that of a class of its own would be asked for its text."""
    return repr(key) if type(key) in _KEYS else "…"


def _attributes(value: object) -> dict[str, Any]:
    """What an object holds, whatever its class answers when it is asked."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return held if type(held) is dict else {}
