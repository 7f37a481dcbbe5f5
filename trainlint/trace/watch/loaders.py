"""The loaders of a run: how they are built, how often they begin anew, and how long the program waits for them."""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import data

from trainlint.facts.api.classes import SAMPLER
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.values import Constant, Items, Object, Op, Unknown, Value
from trainlint.facts.seen.loaders import LoaderSeen
from trainlint.trace.measure import numbers
from trainlint.trace.watch.graph import seen, tensors
from trainlint.trace.watch.objects import dotted

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_NAMES = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers")
_PLAIN = (bool, int, float, str, type(None))
_ORDER = (data.SequentialSampler, data.RandomSampler)

_MOST_COMPARED = 16
"""Batches of a stream that are compared with each other."""


class _Known:
    """One loader: its object, how often it began, and the seconds of each batch."""

    def __init__(self, made: Object) -> None:
        self.object = made
        self.rounds = 0
        self.waits: list[float] = []
        self.works: list[float] = []
        self.given_at: float | None = None
        self.samples: int | None = None
        self.workers = 0
        self.last: deque[tuple[float, ...]] = deque()
        """Sums of the latest batches of a stream, one for each of the other workers."""
        self.given = 0
        self.repeated = 0

    def compare(self, sums: tuple[float, ...]) -> None:
        """A stream that several workers read has given a batch: another worker may just have given the same."""
        self.given += 1
        self.repeated += sums in self.last
        self.last.append(sums)
        if len(self.last) >= self.workers:
            self.last.popleft()


class Loaders:
    """Follows every loader of a run."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._known: dict[int, _Known] = {}
        self._of_iterator: weakref.WeakKeyDictionary[Any, _Known] = weakref.WeakKeyDictionary()
        self._samplers: weakref.WeakKeyDictionary[Any, Object] = weakref.WeakKeyDictionary()

    def made(self, loader: Any, frame: FrameType | None) -> None:
        """A loader is there: what it has settled on, whatever the program has written."""
        recorder = self._recorder
        made = recorder.objects.made(loader, recorder.at(frame))
        recorder.objects.describe_loader(loader)
        made.options["dataset"] = self._dataset(loader.dataset)
        sampler = _sampler_running(loader)
        made.options["shuffle"] = Constant(value=isinstance(sampler, data.RandomSampler))
        made.options["sampler"] = Constant(value=None) if type(sampler) in _ORDER else self._sampler(sampler)
        made.options["batch_sampler"] = (
            Constant(value=None)
            if type(loader.batch_sampler) in (data.BatchSampler, type(None))
            else self._sampler(loader.batch_sampler)
        )
        recorder.emit(Built, frame, made, object=made)

    def refused(
        self, loader: Any, args: Sequence[Any], kwargs: Mapping[str, Any], frame: FrameType | None
    ) -> None:
        """A loader whose arguments are at odds: what the program asked for."""
        recorder = self._recorder
        made = recorder.objects.made(loader, recorder.at(frame))
        for name, value in {**dict(zip(_NAMES, args, strict=False)), **kwargs}.items():
            if isinstance(value, _PLAIN):
                made.options[name] = Constant(value=value)
            elif name in ("sampler", "batch_sampler"):
                made.options[name] = self._sampler(value)
        recorder.emit(Built, frame, made, object=made)

    def begun(self, loader: Any, iterator: Any) -> None:
        """A loop over a loader begins."""
        made = self._recorder.objects.of(loader)
        known = self._known.setdefault(made.uid, _Known(made))
        known.rounds += 1
        known.samples = _length(loader.dataset)
        known.given_at = None
        is_stream = isinstance(loader.dataset, data.IterableDataset) and loader.num_workers > 1
        known.workers, known.given = (loader.num_workers if is_stream else 0), 0
        known.last.clear()
        self._of_iterator[iterator] = known

    def drawn(self, iterator: Any, batch: Any, asked: float, frame: FrameType | None) -> None:
        """A batch has come, that was asked for at this time."""
        recorder = self._recorder
        known = self._of_iterator.get(iterator)
        source: Value = known.object if known is not None else Unknown(text="loader")
        items: list[Value] = []
        for one in tensors(batch):
            made = Op(
                name="iterate",
                inputs=(source,),
                at=recorder.at(frame),
                attached=one.requires_grad,
                seen=seen(one),
            )
            recorder.graph.note(one, made)
            items.append(made)
        if known is not None:
            if known.workers and known.given < _MOST_COMPARED:
                sums = batch_sums(tensors(batch))
                if sums:
                    known.compare(sums)
            recorder.emit(
                Drawn, frame, known.object, loader=known.object, batch=Items(kind="tuple", items=items)
            )
            known.waits.append(time.perf_counter() - asked)
            recorder.timeline.waited(known.object.type.rpartition(".")[2], known.waits[-1])
            if known.given_at is not None:
                known.works.append(asked - known.given_at)
            known.given_at = time.perf_counter()

    def seen(self) -> list[LoaderSeen]:
        return [
            LoaderSeen(
                known.object,
                known.rounds,
                tuple(known.waits),
                tuple(known.works),
                known.samples,
                known.workers,
                known.repeated,
            )
            for known in self._known.values()
        ]

    def _dataset(self, dataset: Any) -> Value:
        if type(dataset) is data.TensorDataset:
            inputs = tuple(map(self._stored, dataset.tensors))
            return Op(name=dotted(data.TensorDataset), inputs=inputs)
        if type(dataset) is data.Subset:
            return Op(name=dotted(data.Subset), inputs=(self._dataset(dataset.dataset),))
        if not isinstance(dataset, data.Dataset):
            return Unknown(text=type(dataset).__name__)
        own = self._recorder.is_own_class(type(dataset))
        library = frozenset(
            dotted(base)
            for base in type(dataset).__mro__
            if base is not object and not self._recorder.is_own_class(base)
        )
        kind = type(dataset).__name__ if own else dotted(type(dataset))
        held = {
            name: self._stored(value)
            for name, value in getattr(dataset, "__dict__", {}).items()
            if isinstance(value, torch.Tensor)
        }
        return Object(type=kind, bases=library, definition=kind if own else None, attributes=held)

    def _stored(self, tensor: torch.Tensor) -> Value:
        """A tensor that a dataset holds; of whole numbers, whether they are classes one after the other."""
        value = self._recorder.graph.of(tensor)
        with self._recorder.aside():
            classes = numbers.classes_in_order(tensor)
        if isinstance(value, Op) and classes:
            look = value.seen or seen(tensor)
            value.seen = replace(look, numbers={**look.numbers, "classes in order": float(classes)})
        return value

    def _sampler(self, sampler: Any) -> Value:
        if not isinstance(sampler, data.Sampler):
            return Unknown(text=type(sampler).__name__)
        kind = dotted(type(sampler))
        options: dict[str, Value] = {
            name: Constant(value=value)
            for name in ("shuffle",)
            if isinstance(value := getattr(sampler, name, None), bool)
        }
        made = Object(type=kind, bases=frozenset((kind, SAMPLER)), options=options)
        return self._samplers.setdefault(sampler, made)

    def sampler_of(self, sampler: Any) -> tuple[Value, ...]:
        """The object of a sampler that a loader was given; none for any other."""
        known = self._samplers.get(sampler)
        return () if known is None else (known,)


def _sampler_running(loader: Any) -> Any:
    """Which sampler gives the order: a loader that was given a batch sampler has one of its own that it never asks."""
    given = loader.batch_sampler if loader.batch_size is None else None
    return loader.sampler if given is None else getattr(given, "sampler", given)


def batch_sums(found: list[torch.Tensor]) -> tuple[float, ...]:
    """Numbers that two batches have in common only if they are the same; none for a batch without anything to tell by."""
    sums = []
    for one in found:
        values = numbers.plain(one)
        if values is not None and values.numel() > 1 and not bool((values == values.flatten()[0]).all()):
            wide = values.double().flatten()
            position = torch.arange(1, len(wide) + 1, dtype=torch.float64, device=wide.device)
            sums += [float(wide.sum()), float(torch.dot(wide, position))]
    return tuple(sums)


def _length(dataset: Any) -> int | None:
    """How many samples a dataset has; None where it does not say."""
    try:
        return len(dataset)
    except (TypeError, NotImplementedError):
        return None
