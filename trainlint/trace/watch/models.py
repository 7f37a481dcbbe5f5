"""The models of a run: what is called as a whole, inside the largest module that the program handles as a whole."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.values import Object, Op, Value
from trainlint.finding import Place
from trainlint.trace.measure import again
from trainlint.trace.watch.given import note_given
from trainlint.trace.watch.graph import tensors
from trainlint.trace.watch.objects import unwrapped

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_MOST_PARAMETERS = 64
"""Parameters of a model whose device and type are looked at."""

_MOST_TENSORS = 4
"""Tensors of one argument that are looked at."""


_LONGEST_WAY = 20
"""Operations between a loader and a model that are followed."""

_KEEPS_AXES = frozenset(
    "to cuda cpu float half bfloat16 double long int contiguous clone detach getitem + - * /".split()
)
"""Operations that leave every axis in its place, where they leave as many of them."""


class Models:
    """The models that the program calls, and those that it handles."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.called: dict[int, weakref.ref[torch.nn.Module]] = {}
        """Models that were called with gradients on, in the order of their first call."""
        self.inputs: dict[int, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        """What each of them was called with last, as `again.held` holds it."""
        self.batch_first: set[int] = set()
        """Those of them whose latest inputs certainly have the batch in front, whatever their other sizes are."""
        self._places: dict[int, Place | None] = {}
        self._handled: dict[int, weakref.ref[torch.nn.Module]] = {}

    def handle(self, module: torch.nn.Module) -> Object:
        """The program handles a model as a whole: it lists its parameters, moves it, switches its mode."""
        model = unwrapped(module)
        self._handled[id(model)] = weakref.ref(model)
        return self._recorder.objects.of(model)

    def call(
        self,
        module: torch.nn.Module,
        made: Object,
        frame: FrameType | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        """A model is called in a way that can be trained; nothing of it if it has nothing to train."""
        recorder, model = self._recorder, unwrapped(module)
        parameters = [one for one in model.parameters() if one.requires_grad]
        if not parameters:
            return
        recorder.phase("the first backward pass")
        self.called.setdefault(id(model), weakref.ref(model))
        with recorder.aside():
            self.inputs[id(model)] = (again.held(args), again.held(kwargs))
        given = tensors([*args, *kwargs.values()])
        if all(self._is_batch_first(one) for one in given if one.dim()):
            self.batch_first.add(id(model))
        else:
            self.batch_first.discard(id(model))
        recorder.steps.forwards += 1
        recorder.autocast.model_called({one.device.type for one in parameters[:_MOST_PARAMETERS]})
        place = self._places[id(model)] = recorder.at(frame)
        if place is None:
            return
        with recorder.aside():
            recorder.ranks.model_called(given, place)
        dtypes = {str(one.dtype).removeprefix("torch.") for one in parameters[:_MOST_PARAMETERS]}
        weights = tuple(sorted(dtypes))
        for name, value in [*((str(n), one) for n, one in enumerate(args)), *kwargs.items()]:
            for one in tensors(value)[:_MOST_TENSORS]:
                note_given(recorder, one, place, "input", name, made.type, weights)

    def _is_batch_first(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is what a loader gave, or a part of that with all its samples."""
        value: Value | None = self._recorder.graph.known(tensor)
        for _ in range(_LONGEST_WAY):
            if not isinstance(value, Op) or value.seen is None or not value.inputs:
                return False
            if value.name == "iterate":
                return value.seen.shape[:1] == tensor.shape[:1]
            before = value.inputs[0]
            shape = before.seen.shape if isinstance(before, Op) and before.seen is not None else ()
            if value.name not in _KEEPS_AXES or len(shape) != len(value.seen.shape):
                return False
            value = before
        return False

    def called_at(self, module: torch.nn.Module) -> Place | None:
        """Where a model was called last: what is pointed at where nobody has seen it made."""
        return self._places.get(id(unwrapped(module))) if self.is_one(module) else None

    def is_one(self, module: torch.nn.Module) -> bool:
        """Whether a module was called as a model."""
        model = unwrapped(module)
        held = self.called.get(id(model))
        return held is not None and held() is model

    def are_partly_frozen(self) -> bool:
        """Whether a model that is trained has parameters that are frozen now, beside others."""
        return any(len({one.requires_grad for one in model.parameters()}) > 1 for model in self.all())

    def all(self) -> list[torch.nn.Module]:
        """The models that were called, each inside the largest model that the program handles as a whole."""
        called = [model for one in self.called.values() if (model := one()) is not None]
        handled = [model for one in self._handled.values() if (model := one()) is not None]
        around = [one for one in handled if any(_holds(one, inner) for inner in called)]
        candidates = {id(one): one for one in (*called, *around)}.values()
        return [
            one
            for one in candidates
            if not any(other is not one and _holds(other, one) for other in candidates)
        ]


def _holds(outer: torch.nn.Module, inner: torch.nn.Module) -> bool:
    return any(one is inner for one in outer.modules())
