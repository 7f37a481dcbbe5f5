"""Where batches come from, and what becomes of their labels."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.values import Object, Value


@dataclass(eq=False)
class Drawn(Event):
    """A loader hands out a batch, in a loop over it or by `next`."""

    loader: Object = field(default_factory=Object)
    batch: Value = field(default_factory=Value)


@dataclass(eq=False)
class Begun(Event):
    """`iter(loader)`: what `next` draws from it begins with the first batch again."""

    loader: Object = field(default_factory=Object)


@dataclass(eq=False)
class WorkersStart(Event):
    """What each worker process of a loader does first, by `worker_init_fn`; `worker` is the number it is given."""

    loader: Object = field(default_factory=Object)
    worker: Value = field(default_factory=Value)
    done: tuple[Called, ...] = ()


@dataclass(eq=False)
class ItemsMade(Event):
    """A loader is made over a dataset of the program's own, whose `__getitem__` uses these names; or no loader is in sight.

    Args:
        by_index: whether it looks at the index that it is given.
        held: what those attributes of the dataset hold that it asks for.
        in_workers: whether worker processes may make the items, where no loader is in sight.
    """

    loader: Object = field(default_factory=Object)
    names: frozenset[str] = frozenset()
    by_index: bool = True
    held: dict[str, Value] = field(default_factory=dict)
    in_workers: bool = False


@dataclass(eq=False)
class Ordered(Event):
    """A loader is made with a sampler of the program's own.

    Args:
        sampler: what says in which order items are read, without the batches that it is cut into.
        names: the names in its `__iter__`, and in its own methods that this uses.
        others: the names in its other methods, without `__init__` and `__len__`.
        held: what its attributes hold once it is made.
    """

    loader: Object = field(default_factory=Object)
    sampler: Object = field(default_factory=Object)
    names: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    held: dict[str, Value] = field(default_factory=dict)


@dataclass(eq=False)
class Batched(Event):
    """A loader is made whose batches are known: what the dataset's `__getitem__` and `collate_fn` make of one item."""

    loader: Object = field(default_factory=Object)
    batch: Value = field(default_factory=Value)


@dataclass(eq=False)
class BatchMade(Event):
    """A function that nothing in sight calls gives a sample or a batch with named parts, as loaders and trainers are given.

    Args:
        batch: a dict, or what a tokenizer gave.
        leaves_out: whether any code of the program speaks of labels that losses are to ignore.
    """

    batch: Value = field(default_factory=Value)
    leaves_out: bool = False


@dataclass(eq=False)
class Ignored(Event):
    """Labels are set to the value that losses ignore, where a condition holds: `labels[labels == 0] = -100`."""

    labels: Value = field(default_factory=Value)
    where: Value = field(default_factory=Value)


@dataclass(eq=False)
class PadIsEnd(Event):
    """The padding token of a tokenizer is made the same as its end-of-sequence token."""

    tokenizer: Value = field(default_factory=Value)
