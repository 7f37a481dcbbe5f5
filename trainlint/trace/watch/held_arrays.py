"""The arrays that a running program holds: in its variables, in their parts, and in the data sets of its loaders."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch.utils import data

from trainlint.trace.measure import numbers
from trainlint.trace.watch.own_code import OwnCode

_DEEPEST = 4
_MOST_VALUES = 2000
_MOST_ITEMS = 64
_MOST_COLUMNS = 32
_MOST_ROWS = 2_000_000


def rows_held(frame: FrameType | None, own: OwnCode, shape: tuple[int, ...]) -> Iterator[torch.Tensor]:
    """Tables of floating numbers whose rows have a shape, as `[rows, columns]`, with some of their columns alone, each once.

    No code of the program's is run for it.
    """
    for value in _values(frame, own):
        rows = _rows(value, shape)
        if rows is not None:
            yield rows


def columns(row_shape: tuple[int, ...]) -> slice:
    """Which columns are looked at."""
    size = torch.Size(row_shape).numel()
    return slice(0, size, max(1, -(-size // _MOST_COLUMNS)))


def _rows(value: Any, shape: tuple[int, ...]) -> torch.Tensor | None:
    indices: Any = None
    if isinstance(value, tuple):
        value, indices = value
    if tuple(value.shape[1:]) != shape or not 2 <= value.shape[0] <= _MOST_ROWS:
        return None
    if not isinstance(value, torch.Tensor):
        part = value.reshape(len(value), -1)[:, columns(shape)]
        found = torch.from_numpy(part.astype("float64"))
    else:
        plain = numbers.plain(value)
        if plain is None:
            return None
        found = plain.reshape(len(value), -1)[:, columns(shape)].double().cpu()
    return found if indices is None else found[torch.as_tensor(indices, dtype=torch.long)]


def _values(frame: FrameType | None, own: OwnCode) -> Iterator[Any]:
    """Tensors and arrays of floating numbers, and pairs of one with the rows of it that a subset takes."""
    pending: list[tuple[Any, int]] = []
    scopes: set[int] = set()
    while (frame := own.innermost(frame)) is not None:
        pending.extend((one, 0) for one in frame.f_locals.values())
        if id(frame.f_globals) not in scopes:
            scopes.add(id(frame.f_globals))
            pending.extend((one, 0) for one in frame.f_globals.values())
        frame = frame.f_back
    seen: set[int] = set()
    for count, (value, depth) in enumerate(pending):
        if count >= _MOST_VALUES:
            return
        if id(value) in seen or isinstance(value, (type, str, bytes, int, float)) or inspect.ismodule(value):
            continue
        seen.add(id(value))
        if _is_table(value):
            yield value
        elif type(value) is data.Subset:
            held = _parts(value.dataset)
            for one in (*held, *(part for inner in held for part in _parts(inner))):
                if _is_table(one):
                    yield one, list(value.indices)
        elif depth < _DEEPEST:
            pending.extend((one, depth + 1) for one in _parts(value))


def _is_table(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.dim() >= 2 and value.is_floating_point()
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and value.ndim >= 2 and value.dtype.kind == "f"


def _parts(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return list(value[:_MOST_ITEMS]) if type(value) in (tuple, list) else []
    if type(value) is dict:
        return list(value.values())[:_MOST_ITEMS]
    if isinstance(value, torch.nn.Module) or not hasattr(type(value), "__dict__"):
        return []
    if isinstance(value, (data.DataLoader, data.Dataset)) or type(value).__module__ != "builtins":
        held = inspect.getattr_static(value, "__dict__", None)
        attributes = vars(value) if held is not None else {}
        return list(attributes.values())[:_MOST_ITEMS]
    return []
