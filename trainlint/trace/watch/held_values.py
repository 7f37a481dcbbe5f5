"""What a running program holds: in its variables, and in the lists, dicts and objects that are there. No code of its own is run."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch.utils import data

from trainlint.trace.watch.own_code import OwnCode

_DEEPEST = 4
_MOST_VALUES = 2000
_MOST_ITEMS = 64
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
        if id(value) in seen or inspect.ismodule(value):
            continue
        seen.add(id(value))
        yield name, value
        if depth < _DEEPEST and not isinstance(value, _LEAVES):
            pending.extend((part, one, depth + 1) for part, one in _parts(name, value))


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    if type(value) in (tuple, list, deque):
        return [(f"{name}[{number}]", one) for number, one in enumerate(list(value)[:_MOST_ITEMS])]
    if type(value) is dict:
        return [(f"{name}[{key!r}]", one) for key, one in list(value.items())[:_MOST_ITEMS]]
    is_object = isinstance(value, (data.DataLoader, data.Dataset)) or type(value).__module__ != "builtins"
    if not is_object or callable(value):
        return []
    held = inspect.getattr_static(value, "__dict__", None)
    return (
        [(f"{name}.{key}", one) for key, one in list(vars(value).items())[:_MOST_ITEMS]]
        if held is not None
        else []
    )
