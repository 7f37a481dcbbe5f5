"""The tables of numbers that a running program holds: in its variables, and in the data sets of its loaders."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch.utils import data

from trainlint.trace.measure import numbers
from trainlint.trace.watch.held_values import held_values, parts
from trainlint.trace.watch.own_code import OwnCode

_MOST_COLUMNS = 32
_MOST_ROWS = 2_000_000
_DEEPEST = 2
"""How far inside of a data set its tables are."""


def rows_held(frame: FrameType | None, own: OwnCode, shape: tuple[int, ...]) -> Iterator[torch.Tensor]:
    """Tables of floating numbers whose rows have a shape, as `[rows, columns]`, with some of their columns alone, each once."""
    for _, value in held_values(frame, own):
        indices = list(value.indices) if type(value) is data.Subset else None
        for table in [value] if _is_table(value) else _inside(value) if indices is not None else ():
            rows = _rows(table, shape)
            if rows is not None:
                taken = None if indices is None else torch.as_tensor(indices, dtype=torch.long)
                yield rows if taken is None else rows[taken]


def columns(row_shape: tuple[int, ...]) -> slice:
    """Which columns are looked at."""
    size = torch.Size(row_shape).numel()
    return slice(0, size, max(1, -(-size // _MOST_COLUMNS)))


def _rows(table: Any, shape: tuple[int, ...]) -> torch.Tensor | None:
    if tuple(table.shape[1:]) != shape or not 2 <= table.shape[0] <= _MOST_ROWS:
        return None
    if not isinstance(table, torch.Tensor):
        return torch.from_numpy(table.reshape(len(table), -1)[:, columns(shape)].astype("float64"))
    plain = numbers.plain(table)
    return None if plain is None else plain.reshape(len(table), -1)[:, columns(shape)].double().cpu()


def _inside(subset: data.Subset[Any]) -> Iterator[Any]:
    """The tables of what a subset is a part of."""
    pending: list[tuple[Any, int]] = [(subset.dataset, 0)]
    for value, depth in pending:
        if _is_table(value):
            yield value
        elif depth < _DEEPEST:
            pending.extend((one, depth + 1) for _, one in parts("", value, most=8))


def _is_table(value: Any) -> bool:
    if issubclass(type(value), torch.Tensor):
        return bool(value.dim() >= 2 and value.is_floating_point())
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and value.ndim >= 2 and value.dtype.kind == "f"
