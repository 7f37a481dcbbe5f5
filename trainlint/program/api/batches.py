"""What a loader hands out: what its dataset makes of an index, put together by its `collate_fn`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.events.batches import Batched, Ignored
from trainlint.facts.model.nodes import Node
from trainlint.facts.model.order import events
from trainlint.facts.model.values import Items, Object, Op, Unknown, Value, constant
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.values import Arguments, Bound, ClassValue, FunctionValue, Partial
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_PARTS = ("getitem", "torch.utils.data.random_split", "torch.utils.data.Subset")


def note_batch(ev: Evaluator, loader: Object, at: s.Span) -> None:
    """Note what a batch is made of. What its code does along the way is not done here and now, but to labels."""
    collate = loader.argument(6, "collate_fn")
    is_own = isinstance(collate, (FunctionValue, Bound, Partial)) or (
        isinstance(collate, Object) and isinstance(collate.definition, ClassValue)
    )
    if loader.is_open or (collate is not None and not is_own and constant(collate) is not None):
        return
    apart: list[Node] = []
    reached = set(ev.trace.reached)
    ev.store.push()
    try:
        with ev.inside(nodes=apart), ev.at_most("BATCH_STEPS"):
            batch = _sample(ev, loader.argument(0, "dataset"), at)
            if is_own and collate is not None:
                samples = Items(items=[batch or ev.unknown("sample")], exact=False)
                batch = ev.call(collate, Arguments((samples,)), at, "collate_fn(…)")
                if isinstance(batch, Object):
                    batch.attributes = ev.store.owned(batch.uid)
    finally:
        ev.store.pop()
        ev.nodes.extend(one for one in events(apart) if isinstance(one, Ignored))
        ev.trace.reached.clear()
        ev.trace.reached.update(reached)
    if batch is not None and (collate is None or is_own):
        is_stacked = collate is None and isinstance(batch, Items)  # by torch, which makes a list of a tuple
        ev.batches[loader.uid] = Items(items=list(batch.parts())) if is_stacked else batch
        ev.emit(Batched, at, loader=loader, batch=batch)


def whole_of(dataset: Value | None) -> Value | None:
    """The dataset that makes the items of a part of it."""
    while isinstance(dataset, Op) and dataset.name in _PARTS and dataset.inputs:
        dataset = dataset.inputs[0]
    return dataset


def _sample(ev: Evaluator, dataset: Value | None, at: s.Span) -> Value | None:
    dataset = whole_of(dataset)
    match dataset:
        case Op(name="torch.utils.data.TensorDataset"):
            return Items(kind="tuple", items=list(dataset.inputs))
        case Object(definition=ClassValue() as cls):
            method = classes.class_attribute(ev, cls, "__getitem__")
            if isinstance(method, FunctionValue) and len(method.origin.code.parameters) > 1:
                index = Unknown(text="index", loops=ev.loops, annotation="int")
                return ev.call_function(method, Arguments((dataset, index)), at, dataset)
    return None
