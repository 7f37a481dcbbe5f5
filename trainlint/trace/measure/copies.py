"""A copy of a model that is run again without anybody noticing: no output, no random numbers, no lasting change."""

from __future__ import annotations

import contextlib
import copy
import io
import logging
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from trainlint.trace.watch.graph import tensors

Keep = Callable[[torch.Tensor], torch.Tensor | None]
"""The part of a tensor that must not change; None where it has no such part."""


def whole(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


_SAME = 1e-5
"""Relative difference of sums that counts as none."""


class Call(NamedTuple):
    """A call of a module: sums of what must not change, of its inputs and its outputs."""

    path: str
    inputs: tuple[float, ...]
    outputs: tuple[float, ...]


class Ran(NamedTuple):
    """What a run gave."""

    outputs: list[torch.Tensor]
    calls: list[Call]


class Copy:
    """A copy of a model, in evaluation mode unless it keeps the model's own. Raises what copying raises."""

    def __init__(self, model: torch.nn.Module, keeps_mode: bool = False) -> None:
        self.model = copy.deepcopy(model)
        if not keeps_mode:
            self.model.eval()

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any], keep: Keep | None = None) -> Ran:
        """Call the copy. Raises whatever the model raises."""
        calls: list[Call] = []
        hooks = []
        if keep is not None:
            for path, module in self.model.named_modules():
                hooks.append(module.register_forward_hook(_noting(path, keep, calls), with_kwargs=True))
        torch.manual_seed(0)
        random.seed(0)
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            numpy.random.seed(0)
        try:
            outputs = tensors(
                self.model(*args, **kwargs)
            )  # trainlint: ignore[TL312]  # those who run it see to that
        finally:
            for hook in hooks:
                hook.remove()
        return Ran([one.detach() for one in outputs], calls)


def culprit(before: Ran, after: Ran) -> str | None:
    """The innermost first module that was given the same, and gave something else; None where there is none."""
    for one, other in zip(before.calls, after.calls, strict=False):
        if one.path != other.path:
            return None
        if one.inputs and _same(one.inputs, other.inputs) and not _same(one.outputs, other.outputs):
            return one.path
    return None


@contextlib.contextmanager
def unnoticed() -> Iterator[None]:
    """Whatever is run inside leaves random numbers, output, warnings and torch's settings as they were."""
    numpy = sys.modules.get("numpy")
    drawn = random.getstate(), numpy.random.get_state() if numpy is not None else None
    fast = torch.backends.mha.get_fastpath_enabled()
    quiet = logging.root.manager.disable
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call]
    try:
        with (
            torch.random.fork_rng(devices=devices),
            torch.no_grad(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            logging.disable(logging.CRITICAL)
            torch.backends.mha.set_fastpath_enabled(False)
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        logging.disable(quiet)
        random.setstate(drawn[0])
        if numpy is not None:
            numpy.random.set_state(drawn[1])


def _noting(path: str, keep: Keep, calls: list[Call]) -> Callable[..., None]:
    def hook(_: torch.nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        calls.append(Call(path, _sums([*args, *kwargs.values()], keep), _sums(output, keep)))

    return hook


def _sums(value: Any, keep: Keep) -> tuple[float, ...]:
    found: list[float] = []
    for one in tensors(value):
        part = keep(one) if one.layout is torch.strided and not one.is_complex() else None
        if part is not None and part.numel():
            wide = part.double()
            found += [float(wide.sum()), float(wide.abs().sum())]
    return tuple(found)


def _same(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    if len(first) != len(second):
        return False
    return all(
        one == other or abs(one - other) <= _SAME * max(abs(size), 1e-12)
        for one, other, size in zip(first, second, _sizes(first), strict=True)
    )


def _sizes(sums: tuple[float, ...]) -> list[float]:
    """For each of the sums, the sum of absolute values beside it."""
    return [sums[position | 1] for position in range(len(sums))]
