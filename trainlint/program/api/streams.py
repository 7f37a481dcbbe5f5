"""Streams of data: what an `IterableDataset` of the program's own goes through, in each worker process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeGuard

from trainlint.facts.model.events.frameworks import Streamed
from trainlint.facts.model.order import loops
from trainlint.facts.model.values import Items, Object, Op, Unknown, Value, alternatives
from trainlint.program.evaluate import classes, siblings
from trainlint.program.evaluate.values import Arguments, ClassValue, FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.worker_parts import takes_part

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_STREAM = "torch.utils.data.IterableDataset"


def note_stream(ev: Evaluator, loader: Object, at: s.Span) -> None:
    """Note what a loader's stream goes through, if its class is the program's own."""
    for dataset in alternatives(loader.argument(0, "dataset")):
        if not isinstance(dataset, Object) or not dataset.is_a(_STREAM):
            continue
        cls = dataset.definition
        method = classes.class_attribute(ev, cls, "__iter__") if isinstance(cls, ClassValue) else None
        if isinstance(cls, ClassValue) and isinstance(method, FunctionValue):
            own = classes.methods(ev, cls)
            over, inner, result, called = _gone_through(ev, dataset, method, at)
            asks = any(map(takes_part, (*own, *called)))
            if _is_generator(result):
                ev.emit(
                    Streamed, at, loader=loader, over=over, inner=inner, yields=tuple(result.items), asks=asks
                )
            else:
                ev.emit(Streamed, at, loader=loader, over=(*over, result), inner=inner, asks=asks)


def _gone_through(
    ev: Evaluator, dataset: Object, method: FunctionValue, at: s.Span
) -> tuple[tuple[Value, ...], tuple[Value, ...], Value, list[s.Function]]:
    """What the loops in `__iter__` go through, those of it that come of such loops themselves, what it returns, and the
    functions that it calls."""
    before = set(ev.trace.reached)
    ev.trace.reached.clear()
    with ev.inside(nodes=[]):
        result = ev.call_function(method, Arguments((dataset,)), at, dataset)
        gone = {one.number: one.over for one in loops(ev.nodes)}
    called = siblings.called_ones(ev, ev.trace.reached)
    ev.trace.reached.update(before)
    over = tuple(one for one in gone.values() if one is not None)
    return over, tuple(one for one in over if _yields_in(one, gone)), result, called


def _yields_in(value: Value, gone: Mapping[int, Value | None]) -> bool:
    """Whether it is a generator that yields all that it does in loops of which it is known what they go through."""
    return (
        _is_generator(value)
        and bool(value.items)
        and all(
            isinstance(one, (Items, Op, Unknown)) and one.loops and gone.get(one.loops[-1]) is not None
            for one in value.items
        )
    )


def _is_generator(value: Value) -> TypeGuard[Items]:
    return isinstance(value, Items) and value.kind == "generator"
