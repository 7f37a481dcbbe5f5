"""Loaders: made, gone through, and told of the epoch."""

from __future__ import annotations

import functools
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import dataloader

from trainlint.facts.model.events.calls import Called
from trainlint.trace.watch.graph import tensors
from trainlint.trace.watch.patches.replacing import replace
from trainlint.trace.watch.patches.telling import Wrap, after

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def patch(recorder: Recorder, undo: ExitStack) -> None:
    replace(undo, dataloader.DataLoader, "__init__", _making(recorder))
    replace(undo, dataloader.DataLoader, "__iter__", after(recorder, _begun))
    replace(undo, dataloader._BaseDataLoaderIter, "__next__", _drawing(recorder))
    replace(
        undo, torch.utils.data.distributed.DistributedSampler, "set_epoch", after(recorder, _told_of_epoch)
    )


def _making(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:
            try:
                original(loader, *args, **kwargs)
            except ValueError:
                if recorder.listens:
                    with recorder.careful:
                        recorder.loaders.refused(loader, args, kwargs, recorder.frame())
                raise
            if recorder.listens:
                with recorder.careful:
                    recorder.loaders.made(loader, recorder.frame())

        return __init__

    return wrap


def _begun(recorder: Recorder, iterator: Any, loader: Any) -> None:
    recorder.loaders.begun(loader, iterator)


def _drawing(recorder: Recorder) -> Wrap:
    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def __next__(iterator: Any) -> Any:
            asked = time.perf_counter()
            batch = original(iterator)
            if recorder.listens:
                with recorder.careful:
                    recorder.loaders.drawn(iterator, batch, asked, recorder.frame())
                    recorder.batch.of_loader(tensors(batch), _samples_of(iterator))
            return batch

        return __next__

    return wrap


def _told_of_epoch(recorder: Recorder, _: None, sampler: Any, /, *args: Any, **kwargs: Any) -> None:
    recorder.emit(Called, recorder.frame(), name="set_epoch", args=recorder.loaders.sampler_of(sampler))


def _samples_of(iterator: Any) -> int | None:
    """How many samples a loader puts into a batch, where there are enough; None where it leaves that to others."""
    size = getattr(getattr(iterator, "_index_sampler", None), "batch_size", None)
    if not isinstance(size, int):
        return None
    try:
        return min(size, len(iterator._dataset))
    except (TypeError, NotImplementedError):  # an iterable dataset has no length
        return size
