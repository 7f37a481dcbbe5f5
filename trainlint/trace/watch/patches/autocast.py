"""Regions of autocast: entered and left."""

from __future__ import annotations

import functools
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch

from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import Wrap, after

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def patch(recorder: Recorder, undo: ExitStack) -> None:
    replace(undo, torch.autocast, "__enter__", after(recorder, _entered))
    replace(undo, torch.autocast, "__exit__", _leaving(recorder))


def _entered(recorder: Recorder, _: Any, region: Any) -> None:
    recorder.autocast.begins(region, recorder.frame())


def _leaving(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def __exit__(region: Any, *exception: Any) -> Any:
            recorder.autocast.ends(region)
            return original(region, *exception)

        return __exit__

    return wrap
