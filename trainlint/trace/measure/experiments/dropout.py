"""Do dropout functions drop in evaluation mode?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from trainlint.facts.api.layers import DROPOUTS
from trainlint.facts.model.events.forwards import Dropped
from trainlint.facts.seen.probes import DropsInEvaluation
from trainlint.finding import Place
from trainlint.trace.measure.copies import Copy
from trainlint.trace.measure.experiments.given import Given
from trainlint.trace.watch.recorder import Recorder


def dropout(recorder: Recorder, given: Given) -> Iterator[DropsInEvaluation]:
    """Call a copy in evaluation mode, and see which of the calls that dropped in training still do."""
    model = recorder.objects.of(given.model)
    held = {id(recorder.objects.of(one)) for one in given.model.modules()} | {id(model)}
    places = {
        one.at
        for one in recorder.events
        if isinstance(one, Dropped) and one.mode and one.training is None and id(one.module) in held
    }
    if not places:
        return
    copy = Copy(given.model)
    watching = _Watching(recorder)
    with torch._C._EnableTorchFunction(), watching:
        copy.run(given.args, given.kwargs)
    for at in sorted(places):
        yield DropsInEvaluation(at, at in watching.drops)


class _Watching(TorchFunctionMode):
    """Notes where the program calls a function that drops."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder
        self.drops: set[Place] = set()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in DROPOUTS:
            position, key = DROPOUTS[name]
            share = args[position] if len(args) > position else given.get(key, _shares(name))
            frame = self._recorder.frame()
            if share and frame is not None:
                self.drops.add(self._recorder.own.place(frame))
        return func(*args, **given)


def _shares(name: str) -> float:
    """What is dropped where the call does not say it."""
    return 0.0 if name == "scaled_dot_product_attention" else 0.5
