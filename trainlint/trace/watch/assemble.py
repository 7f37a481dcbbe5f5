"""From what a recorder has written down to the facts that rules are handed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import torch

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Dropped
from trainlint.facts.model.events.losses import Accumulated
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Items, Object, Op, Value
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.endings import Ending
from trainlint.facts.seen.gradients import Remains
from trainlint.facts.seen.non_finite import NonFinite
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.raised import Failure
from trainlint.facts.seen.ranks import Rank
from trainlint.finding import Place
from trainlint.trace.measure.survey import survey
from trainlint.trace.watch.recorder import Recorder
from trainlint.trace.watch.source_map import SourceMap
from trainlint.trace.watch.unread import unread


def assemble(recorder: Recorder, ending: Ending, folder: str, extra: Iterable[object] = ()) -> Recorded:
    """Everything that was recorded, with the loops and texts of the source around it.

    Args:
        folder: the working directory that the program was started in, which its paths are seen from.
        extra: further facts, such as the outcome of experiments.
    """
    source = SourceMap(folder)
    events = recorder.events
    heads: dict[Place, int] = {}
    for event in events:
        event.loops = _loops(event, source, heads)
        if isinstance(event, Built):
            event.object.loops = event.loops
        if isinstance(event, Dropped) and not source.gives(event.at, "training", 2):
            event.training = None
        if isinstance(event, Accumulated):
            event.total = source.target(event.at) or "this sum"
    with recorder.aside():
        surveyed = survey(recorder)
        if not any(isinstance(one, OptimizerSeen) for one in surveyed):  # they have ended with their function
            surveyed = recorder.steps.surveyed
        seen: list[object] = [
            *recorder.facts,
            *surveyed,
            *recorder.scalers.seen(),
            *recorder.resumes.seen(),
            *recorder.loaders.seen(),
            *recorder.texts.seen(),
            *recorder.clock.seen(),
            *recorder.timeline.seen(),
            *recorder.autocast.seen(),
            *recorder.masks.seen(),
            *recorder.ranks.seen(),
            *recorder.losses.seen,
            *recorder.steps.by_hand.seen(),
            *unread(recorder),
            *extra,
        ]
    _forget_what_is_written_twice(recorder, source)
    _describe(events, source)
    seen = [
        replace(one, text=source.text(one.at) or one.text)
        if isinstance(one, (Failure, NonFinite)) and one.at is not None
        else one
        for one in seen
    ]
    with recorder.careful:
        seen = [
            replace(one, text=recorder.texts.decoded(one.sample))
            if isinstance(one, BatchSeen) and len(one.sample) > 1
            else one
            for one in seen
        ]
    return Recorded(
        path=ending.at.path if ending.at else "",
        entry="program",
        nodes=list(events),
        objects=tuple(recorder.objects.all),
        seen=tuple(seen),
        heads={number: place for place, number in heads.items()},
        remains=tuple(
            Remains(one.object, *one.remains)
            for one in recorder.steps.optimizers.values()
            if one.remains is not None
        ),
        lines=frozenset(recorder.lines),
        files=frozenset(map(recorder.own.shown, recorder.own.imported())),
        ending=ending,
        rank=recorder.ranks.rank
        or Rank(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))),
        torch=torch.__version__,
    )


def _forget_what_is_written_twice(recorder: Recorder, source: SourceMap) -> None:
    """To share a layer that is written twice may be meant: what counts is a list that repeats it, where the container is
    made or in what the program has imported from beside that."""
    for one in recorder.objects.all:
        for held in one.attributes.values():
            if isinstance(held, Items) and held.repeated:
                path = held.repeated[0][0].path
                beside = (recorder.own.shown(file) for file in recorder.own.imported())
                near = (file for file in beside if Path(file).is_relative_to(Path(path).parent))
                if not any(map(source.repeats, (path, *near))):
                    held.repeated = ()


def _loops(event: Event, source: SourceMap, heads: dict[Place, int]) -> tuple[int, ...]:
    """Numbers of the loops around an event, outermost first, through all calls that led to it."""
    return tuple(
        heads.setdefault(head, len(heads) + 1)
        for place in (*event.calls, event.at)
        for head in source.loops(place)
    )


def _describe(events: Iterable[Event], source: SourceMap) -> None:
    """Give every operation that an event depends on its text, and every constructor past torch's eyes its name."""
    pending: list[Value] = [
        value for event in events for held in vars(event).values() for value in _values(held)
    ]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if value.uid in seen:
            continue
        seen.add(value.uid)
        if isinstance(value, Op):
            if value.name == "alias":
                _name_constructor(value, source)
            if value.at is not None and not value.text:
                value.text = _layer(value.owner) or source.text(value.at)
        pending.extend(value.parts())


def _layer(owner: Value | None) -> str:
    """What a layer of torch's is called, such as `nn.Softmax(…)`: the program's line may call a model around it."""
    if isinstance(owner, Object) and owner.type.startswith("torch.nn."):
        return f"{owner.type.removeprefix('torch.')}(…)"
    return ""


def _name_constructor(op: Op, source: SourceMap) -> None:
    """A tensor that shares memory with another, made by a constructor that no mode sees: it stands around the other."""
    inner = op.inputs[0]
    if isinstance(inner, Op) and inner.at is not None:
        found = source.constructor(inner.at)
        if found is not None:
            op.at, op.name = found
            return
        op.at = inner.at
    op.name = "identity"


def _values(held: object) -> list[Value]:
    if isinstance(held, Value) and not isinstance(held, Object):
        return [held]
    if isinstance(held, tuple):
        return [one for one in held if isinstance(one, Value)]
    return []
