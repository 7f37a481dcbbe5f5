"""Whether what a model is trained on was scaled together with what is held out: only all of it has mean 0 and deviation 1."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import torch

from trainlint.facts.seen.splits import ScaledTogether
from trainlint.trace.measure import numbers
from trainlint.trace.measure.again import had_again, leaves
from trainlint.trace.watch.held_arrays import columns, rows_held

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_IS_0 = 1e-4
_IS_NOT_0 = 2e-3
"""How far the mean of a feature is from 0, beside its standard deviation."""
_FEWEST_ROWS = 20
_MOST_OTHERS = 5


class _Sums(NamedTuple):
    """Rows that were added up."""

    rows: int
    first: torch.Tensor
    second: torch.Tensor

    def __add__(self, other: tuple[object, ...]) -> _Sums:
        assert isinstance(other, _Sums)
        return _Sums(self.rows + other.rows, self.first + other.first, self.second + other.second)

    @property
    def mean(self) -> torch.Tensor:
        return self.first / self.rows

    @property
    def variance(self) -> torch.Tensor:
        return self.second / self.rows - self.mean**2


def scaled_together(recorder: Recorder, frame: FrameType | None) -> ScaledTogether | None:
    """What the variables of the running program show of the data that its models were given last."""
    for key, model in list(recorder.models.called.items()):
        module, inputs = model(), recorder.models.inputs.get(key)
        at = recorder.models.called_at(module) if module is not None else None
        if inputs is None or at is None:
            continue
        for given in leaves(had_again(inputs)):
            batch = _batch(given)
            if batch is not None:
                shape = tuple(batch.shape[1:])
                row = batch[0].reshape(-1)[columns(shape)].double().cpu()
                tables = list(_different(rows_held(frame, recorder.own, shape)))
                found = _judged(tables, row, batch.dtype)
                if found is not None:
                    together, trained = found
                    return ScaledTogether(
                        at,
                        trained.rows,
                        together.rows - trained.rows,
                        len(row),
                        float(together.mean.abs().max()),
                        float(trained.mean.abs().max()),
                    )
    return None


def _batch(given: object) -> torch.Tensor | None:
    """What a model was given as a batch of numbers; None for anything else, and for one without samples, or without data."""
    if not isinstance(given, torch.Tensor) or given.dim() < 2 or not given.is_floating_point():
        return None
    batch = numbers.plain(given)
    return batch if batch is not None and batch.numel() else None


def _different(tables: Iterator[torch.Tensor]) -> Iterator[torch.Tensor]:
    """Tables that are no copies of each other."""
    seen: set[tuple[int, float]] = set()
    for one in tables:
        key = len(one), round(float(one.sum()), 4)
        if key not in seen:
            seen.add(key)
            yield one


def _judged(tables: list[torch.Tensor], row: torch.Tensor, dtype: torch.dtype) -> tuple[_Sums, _Sums] | None:
    """The sums of all parts and of the one that is trained on, where only the first are those of scaled features."""
    holding = [one for one in tables if _holds(one, row, dtype)]
    others = [_sums(one) for one in tables if not any(one is other for other in holding)][:_MOST_OTHERS]
    for trained in map(_sums, holding):
        varies = bool((trained.variance > _IS_0).any())
        if trained.rows < _FEWEST_ROWS or not varies or float(trained.mean.abs().max()) < _IS_NOT_0:
            continue
        for number in (1, 2):
            for chosen in itertools.combinations(others, number):
                together = trained
                for one in chosen:
                    together = together + one
                if _is_scaled(together):
                    return together, trained
    return None


def _holds(table: torch.Tensor, row: torch.Tensor, dtype: torch.dtype) -> bool:
    return bool((table.to(dtype).double() == row).all(dim=1).any())


def _sums(table: torch.Tensor) -> _Sums:
    return _Sums(len(table), table.sum(dim=0), table.square().sum(dim=0))


def _is_scaled(sums: _Sums) -> bool:
    """Whether each feature that is not constant has mean 0 and variance 1, by either count of samples."""
    varies = sums.variance > _IS_0
    if not bool(varies.any()) or not bool(torch.isfinite(sums.first).all()):
        return False
    least = (sums.rows - 1) / sums.rows
    variance = sums.variance[varies]
    is_one = ((variance - 1).abs() < _IS_0) | ((variance - least).abs() < _IS_0)
    return bool((sums.mean.abs() < _IS_0).all()) and bool(is_one.all())
