"""Weights that the program takes out of a model by `state_dict()`, and what it does with them later."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.modules import StateLoaded, StateTaken
from trainlint.facts.model.values import Constant, Op, Unknown, Value
from trainlint.facts.seen.saved import Saved
from trainlint.trace.watch.objects import unwrapped

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


_COMPILED = "_orig_mod."
"""What the names of a compiled module's weights hold."""


class _Taken(NamedTuple):
    """One of the tensors that were handed out, the model's own weight that it shares, and how often was stepped."""

    tensor: weakref.ref[torch.Tensor]
    weight: int
    output: Op
    steps: int


class States:
    """Knows a state again by one of its tensors: a copy of the dict has the same ones, a copy of the weights has not."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._taken: dict[int, _Taken] = {}

    def taken(self, module: torch.nn.Module, state: Any, frame: FrameType | None) -> None:
        """`module.state_dict()` has given a state."""
        recorder = self._recorder
        first = _first_tensor(state)
        owner = recorder.objects.of(unwrapped(module))
        output = Op(name="state_dict", owner=owner, at=recorder.at(frame))
        recorder.emit(StateTaken, frame, owner, output=output)
        if first is not None:
            self._taken[id(first)] = _Taken(weakref.ref(first), first.data_ptr(), output, recorder.steps.done)

    def loaded(
        self,
        module: torch.nn.Module,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        keys: Any,
        frame: FrameType | None,
    ) -> None:
        """`module.load_state_dict(...)` has reported keys."""
        recorder = self._recorder
        state = args[0] if args else kwargs.get("state_dict")
        strict = args[1] if len(args) > 1 else kwargs.get("strict")
        target = recorder.objects.of(unwrapped(module))
        recorder.emit(
            StateLoaded,
            frame,
            target,
            target=target,
            state=self._of(state),
            strict=Constant(value=strict) if isinstance(strict, bool) else None,
            result=Op(name="call", is_ignored=frame is not None and recorder.own.is_ignored(frame)),
            missing=len(getattr(keys, "missing_keys", ())),
            unexpected=len(getattr(keys, "unexpected_keys", ())),
            keys=len(state) if isinstance(state, Mapping) else None,
        )

    def saved(self, value: Any, frame: FrameType | None) -> None:
        """`torch.save(value, ...)`."""
        inside = [value, *value.values()] if isinstance(value, Mapping) else [value]
        known = [one for one in map(self._of, inside) if isinstance(one, Op)]
        recorder, place = self._recorder, self._recorder.at(frame)
        recorder.emit(Called, frame, None, name="torch.save", args=tuple(known[:1]))
        compiled = [
            key
            for one in inside
            if _first_tensor(one) is not None
            for key in one
            if isinstance(key, str) and _COMPILED in key
        ]
        if compiled and place is not None:
            recorder.fact(Saved(place, len(compiled), compiled[0]), place)

    def _of(self, state: Any) -> Value:
        """The call that gave a state, if its tensors are still those of the model and it has stepped since."""
        first = _first_tensor(state)
        known = self._taken.get(id(first))
        if first is None or known is None or known.tensor() is not first or first.data_ptr() != known.weight:
            return Unknown(text="state")
        return known.output if self._recorder.steps.done > known.steps else Unknown(text="state")


def _first_tensor(state: Any) -> torch.Tensor | None:
    if not isinstance(state, Mapping):
        return None
    return next((one for one in state.values() if isinstance(one, torch.Tensor)), None)
