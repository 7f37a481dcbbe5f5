"""Functions of which nobody in sight makes use, and that give samples or batches: a `collate_fn`, what a data set is mapped with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import DATASET
from trainlint.facts.api.losses import IGNORED
from trainlint.facts.api.spoken import LEAVES_OUT, SEEDS_WORKERS, WORKERS
from trainlint.facts.ask.named_parts import is_of_named_parts
from trainlint.facts.model.events.batches import BatchMade, ItemsMade
from trainlint.facts.model.values import Object, Value, alternatives
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.values import ClassValue, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def note(ev: Evaluator, result: Value, at: s.Span) -> None:
    """Note that a function gives a batch."""
    for one in alternatives(result):
        if is_of_named_parts(one):
            ev.emit(BatchMade, at, batch=one, leaves_out=any(map(ev.is_read, (*LEAVES_OUT, str(IGNORED)))))


def note_items(ev: Evaluator, function: FunctionValue, receiver: Value | None) -> None:
    """Note that a dataset makes an item, where no loader of it is in sight."""
    if (
        not isinstance(receiver, Object)
        or not receiver.is_a(DATASET)
        or function.origin.code.name != "__getitem__"
    ):
        return
    is_shared = ev.is_read(WORKERS) and not ev.is_read(SEEDS_WORKERS)
    used = names_of_items(ev, receiver, function)
    held = held_for_items(ev, receiver, function)
    ev.emit(ItemsMade, function.origin.code.at, names=used, held=held, in_workers=is_shared)


def held_by(ev: Evaluator, dataset: Object) -> dict[str, Value]:
    """What the attributes of a dataset hold now."""
    return {str(name): value for name, value in ev.store.owned(dataset.uid).items() if isinstance(name, str)}


def held_for_items(ev: Evaluator, dataset: Object, method: FunctionValue) -> dict[str, Value]:
    """What the attributes of a dataset hold that its `__getitem__`, or an own method that this uses, asks for."""
    asked = list(_asked_of_owner(method.origin.code))
    if isinstance(dataset.definition, ClassValue):
        names = method.origin.code.names
        for one in classes.methods(ev, dataset.definition):
            asked += _asked_of_owner(one) if one.name in names else ()
    held = held_by(ev, dataset)
    return held if None in asked else {name: value for name, value in held.items() if name in asked}


def _asked_of_owner(code: s.Function) -> Iterator[str | None]:
    """Each attribute that a method asks its own object for; None where it hands the object on as a whole."""
    owner = code.parameters[0].name if code.parameters else None
    pending: list[object] = [code.body]
    while pending:
        match pending.pop():
            case tuple() as several:
                pending.extend(several)
            case s.Attribute(value=s.Name(name=found), name=name) if found == owner:
                yield name
            case s.Name(name=found) if found == owner:
                yield None
            case node if is_dataclass(node):
                pending.extend(getattr(node, one.name) for one in fields(node))


def names_of_items(ev: Evaluator, dataset: Object, method: FunctionValue) -> frozenset[str]:
    """The names in the `__getitem__` of a dataset, and in its own methods that this uses."""
    names = method.origin.code.names
    if isinstance(dataset.definition, ClassValue):
        own = (one.names for one in classes.methods(ev, dataset.definition) if one.name in names)
        names = names.union(*own)
    return names
