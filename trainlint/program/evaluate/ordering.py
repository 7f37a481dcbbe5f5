"""In which order a sampler of the program's own lets a loader read its items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.events.batches import Ordered
from trainlint.facts.model.values import Object, Op, Value
from trainlint.program.evaluate import batch_making, classes
from trainlint.program.evaluate.values import ClassValue, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_IN_BATCHES = "torch.utils.data.BatchSampler"
_WITHOUT_CHANGES = ("__init__", "__iter__", "__len__")


def note_order(ev: Evaluator, loader: Object, at: s.Span) -> None:
    """Note a sampler whose `__iter__` is in sight."""
    sampler = _inner(loader.argument(3, "sampler")) or _inner(loader.argument(4, "batch_sampler"))
    if sampler is None or not isinstance(sampler.definition, ClassValue):
        return
    method = classes.class_attribute(ev, sampler.definition, "__iter__")
    if not isinstance(method, FunctionValue):
        return
    names = batch_making.names_of_items(ev, sampler, method)
    methods = classes.methods(ev, sampler.definition)
    others = frozenset[str]().union(
        *(one.names for one in methods if one.name not in _WITHOUT_CHANGES and one.name not in names)
    )
    ev.emit(
        Ordered,
        at,
        loader=loader,
        sampler=sampler,
        names=names,
        others=others,
        held=batch_making.held_by(ev, sampler),
    )


def _inner(sampler: Value | None) -> Object | None:
    """The sampler of the program's own that says the order, where torch's only cuts it into batches."""
    if isinstance(sampler, Op) and sampler.name == _IN_BATCHES and sampler.inputs:
        sampler = sampler.inputs[0]
    if isinstance(sampler, Object) and sampler.definition is None and sampler.is_a(_IN_BATCHES):
        sampler = sampler.argument(0, "sampler")
    return sampler if isinstance(sampler, Object) else None
