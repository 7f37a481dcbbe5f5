"""Streams of data: what an `IterableDataset` of the program's own goes through, in each worker process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.events.frameworks import Streamed
from trainlint.facts.model.order import loops
from trainlint.facts.model.values import Items, Object, Value, alternatives
from trainlint.program.evaluate import classes, siblings
from trainlint.program.evaluate.values import Arguments, ClassValue, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_STREAM = "torch.utils.data.IterableDataset"
_WORKER = frozenset(("get_worker_info", "worker_info", "num_workers", "worker_id", "WorkerInfo"))


def note_stream(ev: Evaluator, loader: Object, at: s.Span) -> None:
    """Note what a loader's stream goes through, if its class is the program's own."""
    for dataset in alternatives(loader.argument(0, "dataset")):
        if not isinstance(dataset, Object) or not dataset.is_a(_STREAM):
            continue
        cls = dataset.definition
        method = classes.class_attribute(ev, cls, "__iter__") if isinstance(cls, ClassValue) else None
        if isinstance(cls, ClassValue) and isinstance(method, FunctionValue):
            own = classes.methods(ev, cls)
            over, called = _gone_through(ev, dataset, method, at)
            asks = any(not _WORKER.isdisjoint(one.names) for one in (*own, *called))
            ev.emit(Streamed, at, loader=loader, over=over, asks=asks)


def _gone_through(
    ev: Evaluator, dataset: Object, method: FunctionValue, at: s.Span
) -> tuple[tuple[Value, ...], list[s.Function]]:
    """What the loops in `__iter__` go through, and what it returns; and the functions that it calls."""
    before = set(ev.trace.reached)
    ev.trace.reached.clear()
    with ev.inside(nodes=[]):
        result = ev.call_function(method, Arguments((dataset,)), at, dataset)
        over = [one.over for one in loops(ev.nodes) if one.over is not None]
    called = siblings.called_ones(ev, ev.trace.reached)
    ev.trace.reached.update(before)
    is_generator = isinstance(result, Items) and result.kind == "generator"
    return (tuple(over) if is_generator else (*over, result)), called
