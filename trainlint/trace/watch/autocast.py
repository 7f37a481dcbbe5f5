"""Regions of autocast: which are open, and what is called in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.api.classes import AUTOCAST
from trainlint.facts.model.values import Constant, Named, Object, Value
from trainlint.facts.seen.autocast import AutocastSeen
from trainlint.finding import Place

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_NOWHERE = Place("", 0, 0, 0, 0)
"""Where a region begins that no line of the program begins."""


class Autocast:
    """Follows the program into regions of autocast and out of them."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.open: tuple[Object, ...] = ()
        """The regions that are open, outermost first."""
        self._entered: list[int] = []
        self._models: dict[AutocastSeen, set[str]] = {}
        """Regions, and the devices of the models that were called in them."""
        self._latest: dict[str, AutocastSeen] = {}
        self._objects: dict[AutocastSeen, Object] = {}

    def begins(self, region: Any, frame: FrameType | None) -> None:
        place = self._recorder.at(frame)
        dtype = str(getattr(region, "fast_dtype", "")).removeprefix("torch.")
        begun = AutocastSeen(
            place or _NOWHERE, str(region.device), dtype, bool(getattr(region, "_enabled", True))
        )
        made = self._objects.get(begun)
        if made is None:
            made = self._objects[begun] = _region(begun, place)
        self._entered.append(id(region))
        self.open = (*self.open, made)
        if place is not None:
            self._models.setdefault(begun, set())
            self._latest[begun.device] = begun

    def ends(self, region: Any) -> None:
        if self._entered and self._entered[-1] == id(region):
            self._entered.pop()
            self.open = self.open[:-1]

    def model_called(self, devices: Iterable[str]) -> None:
        """A model with parameters on these devices is called, in whatever regions are open."""
        for device, region in self._latest.items():
            if region.enabled and torch.is_autocast_enabled(device):
                self._models[region].update(devices)

    def seen(self) -> list[AutocastSeen]:
        return [replace(region, models=tuple(sorted(models))) for region, models in self._models.items()]


def _region(seen: AutocastSeen, at: Place | None) -> Object:
    is_there = seen.device != "cuda" or torch.cuda.is_available()
    options: dict[str, Value] = {
        "device_type": Constant(value=seen.device),
        "dtype": Named(name=f"torch.{seen.dtype}"),
        "available": Constant(value=is_there),
    }
    if is_there:
        options["enabled"] = Constant(value=seen.enabled)
    return Object(type=AUTOCAST, bases=frozenset((AUTOCAST,)), at=at, options=options)
