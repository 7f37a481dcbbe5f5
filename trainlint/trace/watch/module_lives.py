"""What is known of each module over all of its calls."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch

from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.tensors import Spread
from trainlint.trace.measure import numbers
from trainlint.trace.watch.rectifiers import FLAT_ENDS, dead_units, saturated

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_RECTIFIERS = (torch.nn.ReLU, torch.nn.ReLU6)
_FLAT_ENDS: dict[type, tuple[float, float]] = {
    torch.nn.Sigmoid: FLAT_ENDS["sigmoid"],
    torch.nn.Tanh: FLAT_ENDS["tanh"],
}
_MEASURED_CALLS = 3
"""Calls of one module whose outputs are measured."""


class _Life:
    def __init__(self, module: torch.nn.Module, order: int) -> None:
        self.module = weakref.ref(module)
        self.order = order
        self.calls = 0
        self.training: bool | None = None
        self.output: tuple[int, ...] | None = None
        self.spread: Spread | None = None
        self.dead: float | None = None
        self.saturated: float | None = None
        self.seconds: float | None = None


class ModuleLives:
    """Measures what modules give, and how long they take."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lives: dict[int, _Life] = {}

    @property
    def count(self) -> int:
        """How many modules have been called."""
        return len(self._lives)

    def timed(self, module: torch.nn.Module, seconds: float) -> None:
        """A module took so long. Its first call warms up, and does not count."""
        life = self._of(module)
        if life is not None:
            life.seconds = _least(life.seconds, seconds)

    def called(self, module: torch.nn.Module, outputs: list[torch.Tensor], *, records: bool) -> None:
        """A module has given this; `records` is whether autograd watched."""
        life = self._of(module)
        if life is None:
            life = self._lives[id(module)] = _Life(module, len(self._lives))
        life.training = module.training
        if records:
            life.calls += 1
            if outputs and life.calls <= _MEASURED_CALLS:
                with self._recorder.aside():
                    self._measure(life, module, outputs[0])

    def order_of(self, module: torch.nn.Module) -> int | None:
        """The position of a module among all of them by their first call; None if it was never called."""
        life = self._of(module)
        return life.order if life is not None and life.calls else None

    def seen(self, model: torch.nn.Module) -> list[ModuleSeen]:
        """What the calls of a model's modules have shown."""
        objects = self._recorder.objects
        name, at = objects.of(model).type, self._recorder.models.called_at(model)
        found = []
        for path, module in model.named_modules():
            life, made = self._of(module), objects.of(module)
            found.append(
                ModuleSeen(
                    path=path,
                    type=made.type,
                    model=name,
                    at=made.at or at,
                    order=life.order if life is not None and life.calls else None,
                    calls=life.calls if life is not None else 0,
                    parameters=sum(
                        one.numel() for one in module.parameters(recurse=False) if one.requires_grad
                    ),
                    training=life.training if life is not None else None,
                    output=life.output if life is not None else None,
                    spread=life.spread if life is not None else None,
                    dead=life.dead if life is not None else None,
                    saturated=life.saturated if life is not None else None,
                    seconds=life.seconds if life is not None else None,
                )
            )
        return found

    def _of(self, module: torch.nn.Module) -> _Life | None:
        life = self._lives.get(id(module))
        return life if life is not None and life.module() is module else None

    def _measure(self, life: _Life, module: torch.nn.Module, output: torch.Tensor) -> None:
        life.output = tuple(output.shape)
        if (any(True for _ in module.children()) and output.dim() > 0) or numbers.plain(output) is None:
            return
        life.spread = numbers.spread(output)
        if isinstance(module, _RECTIFIERS):
            life.dead = _least(life.dead, dead_units(output))
        ends = _FLAT_ENDS.get(type(module))
        if ends is not None and output.numel():
            life.saturated = _least(life.saturated, saturated(output, *ends))
        if life.spread is not None and life.spread.non_finite:
            self._recorder.non_finite.in_output(module, life.output)


def _least(one: float | None, other: float | None) -> float | None:
    """The smaller share: a module that is called at several places is judged by the best of them."""
    return other if one is None else one if other is None else min(one, other)
