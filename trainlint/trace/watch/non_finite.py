"""Where numbers stop being finite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.values import Op
from trainlint.facts.seen.non_finite import ZEROS, NonFinite
from trainlint.trace.measure import numbers
from trainlint.trace.watch.graph import tensors

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_STEEP_AT_0 = frozenset(("sqrt", "**"))
"""Operations whose derivative is infinite where their result is 0."""


class FirstNonFinite:
    """Looks for the first NaN or infinity of the models; what comes after it follows from it."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._is_found = False

    def in_result(
        self, name: str, op: Op, args: Sequence[Any], kwargs: Mapping[str, Any], result: torch.Tensor
    ) -> None:
        """If the result of an operation holds NaN or infinities: were they in what went in?"""
        if name in _STEEP_AT_0 and result.requires_grad and op.seen is not None and not bool(result.all()):
            op.seen.numbers[ZEROS] = float((result == 0).sum())
        if numbers.is_finite(result):
            return
        given = [
            one for one in tensors([*args, *kwargs.values()]) if one.is_floating_point() and one is not result
        ]
        if op.seen is not None:
            op.seen.numbers["not finite"] = 1.0
            op.seen.numbers["made of finite numbers"] = float(all(map(numbers.is_finite, given)))
        recorder = self._recorder
        if not self._is_found and recorder.modules.is_training_forward and numbers.has_nan(result):
            self._is_found = True
            if not any(numbers.has_nan(one) for one in given):
                path = recorder.modules.path()
                recorder.facts.append(NonFinite(op.at, name, name, path, "nan", tuple(result.shape)))

    def in_output(self, module: torch.nn.Module, shape: tuple[int, ...]) -> None:
        """The output of a module holds NaN or infinities."""
        if not self._is_found:
            self._is_found = True
            recorder, kind = self._recorder, type(module).__name__
            place, path = recorder.objects.of(module).at, recorder.modules.path_of(module)
            recorder.facts.append(NonFinite(place, kind, kind, path, "inf", shape))
