"""State that a run loads into optimizers, and what has become of it when they step."""

from __future__ import annotations

import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.values import Object
from trainlint.facts.seen.resumes import Resumed
from trainlint.finding import Place
from trainlint.trace.watch.optimizers import number, parameters_of

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


class _Resume:
    """One call of `load_state_dict` of an optimizer."""

    def __init__(self, optimizer: torch.optim.Optimizer, made: Object, at: Place) -> None:
        held = {one: state for one, state in optimizer.state.items() if state}
        self.optimizer = weakref.ref(optimizer)
        self.object, self.at = made, at
        self.parameters = {id(one): weakref.ref(one) for one in held if isinstance(one, torch.Tensor)}
        self.steps = max((number(state.get("step")) for state in held.values()), default=0.0)
        self.rates = _rates(optimizer)
        self.kept: int | None = None
        self.now: tuple[float, ...] = ()
        self.stepped_by: Object | None = None
        self.scheduler: Object | None = None

    def holds(self, parameter: torch.Tensor) -> bool:
        known = self.parameters.get(id(parameter))
        return known is not None and known() is parameter


class Resumes:
    """Looks at each optimizer that state was loaded into when it, or another in its place, steps for the first time."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._open: list[_Resume] = []
        self._all: list[_Resume] = []
        self._schedulers: list[tuple[weakref.ref[Any], Object]] = []

    def loaded(self, optimizer: torch.optim.Optimizer, frame: FrameType | None) -> None:
        """An optimizer has loaded a state."""
        place = self._recorder.at(frame)
        if place is None:
            return
        found = _Resume(optimizer, self._recorder.objects.of(optimizer), place)
        if found.parameters:
            self._open = [one for one in self._open if one.optimizer() is not optimizer]
            self._open.append(found)
            self._all.append(found)

    def scheduler_made(self, scheduler: Any, frame: FrameType | None) -> None:
        if self._open:
            recorder = self._recorder
            self._schedulers.append(
                (weakref.ref(scheduler), recorder.objects.made(scheduler, recorder.at(frame)))
            )

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer is about to step."""
        for one in list(self._open):
            if one.optimizer() is optimizer:
                self._open.remove(one)
                one.kept = sum(
                    one.holds(held) and bool(optimizer.state.get(held)) for held in parameters_of(optimizer)
                )
                one.now = _rates(optimizer)
                one.scheduler = self._anew(optimizer)
                one.stepped_by = None
            elif one.stepped_by is None and any(map(one.holds, parameters_of(optimizer))):
                one.stepped_by = self._recorder.objects.of(optimizer)

    def _anew(self, optimizer: torch.optim.Optimizer) -> Object | None:
        """The scheduler of an optimizer that was made since, and stands at its beginning."""
        for held, made in self._schedulers:
            scheduler = held()
            if (
                getattr(scheduler, "optimizer", None) is optimizer
                and getattr(scheduler, "last_epoch", None) == 0
            ):
                return made
        return None

    def seen(self) -> list[Resumed]:
        return [
            Resumed(
                one.at,
                one.object.type,
                one.steps,
                len(one.parameters),
                one.kept,
                one.rates,
                one.now,
                one.stepped_by.type if one.stepped_by is not None else "",
                one.stepped_by.at if one.stepped_by is not None else None,
                one.scheduler.at if one.scheduler is not None else None,
            )
            for one in self._all
        ]


def _rates(optimizer: torch.optim.Optimizer) -> tuple[float, ...]:
    return tuple(number(group.get("lr")) for group in optimizer.param_groups)
