"""Samples and batches whose parts have names: a dict, or what a tokenizer gave and a program has added to."""

from __future__ import annotations

from trainlint.facts.model.events.batches import Batched, BatchMade
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Table, Value, constant

_NAMES = ("input_ids", "labels", "attention_mask")


def is_of_named_parts(value: Value) -> bool:
    """Whether a value has a part that models for texts take."""
    return any(named_part(value, name) is not None for name in _NAMES)


def named_part(batch: Value, name: str) -> Value | None:
    """What a batch has under a name, where the program has put it there."""
    if isinstance(batch, Table):
        return batch.entries.get(name)
    if not isinstance(batch, Op):
        return None
    put = [one for one in batch.written if one.name == "setitem" and constant(one.option(1, "index")) == name]
    return put[-1].option(2, "value") if put else None


def all_made(training: Training) -> list[Value]:
    """The samples and batches that functions of the program make, for loaders in sight and for others."""
    found = [one.batch for one in training.events(BatchMade)]
    return [*found, *(one.batch for one in training.events(Batched) if is_of_named_parts(one.batch))]
