"""The models that the program called, with inputs that can be had again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from trainlint.facts.model.events.forwards import Forward
from trainlint.finding import Place
from trainlint.trace.measure.again import LOST, had_again, leaves
from trainlint.trace.watch.recorder import Recorder

_MOST_ELEMENTS = 200_000_000
"""Parameters of a model beyond which it is not copied."""


class Given(NamedTuple):
    """A model and what it was called with last."""

    model: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    at: Place


def models_given(recorder: Recorder) -> Iterator[Given]:
    """The models that the program called, with inputs that can be had again."""
    spread = torch.distributed.is_available() and torch.distributed.is_initialized()
    if spread and torch.distributed.get_world_size() > 1:
        return
    places = {
        id(event.module): event.at
        for event in recorder.events
        if isinstance(event, Forward) and event.records
    }
    for key, held in recorder.models.called.items():
        model, inputs = held(), recorder.models.inputs.get(key)
        if model is None or inputs is None:
            continue
        at = places.get(id(recorder.objects.of(model)))
        args, kwargs = had_again(inputs[0]), had_again(inputs[1])
        if at is None or any(one is LOST for one in leaves([args, kwargs])):
            continue
        parameters = list(model.parameters())
        if any(type(one.data) is not torch.Tensor for one in parameters):
            continue
        if sum(one.numel() for one in parameters) <= _MOST_ELEMENTS:
            yield Given(model, args, kwargs, at)
