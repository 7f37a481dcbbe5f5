"""What happens between a training program and a framework that owns a part of its loop."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.values import Object, Value


@dataclass(eq=False)
class Prepared(Event):
    """A model, an optimizer, a loader or a scheduler is handed to a helper that takes care of it from then on.

    Args:
        by: the helper.
        is_open: whether it is handed more than can be seen.
    """

    by: Object = field(default_factory=Object)
    what: Value = field(default_factory=Value)
    is_open: bool = False


@dataclass(eq=False)
class Gathered(Event):
    """Tensors of all ranks are put together.

    Args:
        padded: whether the samples that fill up the last batch stay among them.
    """

    by: Object = field(default_factory=Object)
    what: Value = field(default_factory=Value)
    output: Value = field(default_factory=Value)
    padded: bool = False


@dataclass(eq=False)
class StepMethod(Event):
    """A framework calls a method of the program's for each batch, in a loop of its own.

    Args:
        receiver: the object whose method it is.
        name: the method.
        returns: what the framework gets.
        automatic: whether the framework runs backward, steps and clears by itself; None where that is unknown.
        names: names in the code of all methods of the class.
    """

    receiver: Object = field(default_factory=Object)
    name: str = ""
    returns: Value = field(default_factory=Value)
    automatic: bool | None = True
    names: frozenset[str] = frozenset()


@dataclass(eq=False)
class Configured(Event):
    """A framework asks the program for its optimizers and schedules, and steps these by itself if it is `automatic`.

    Args:
        returns: what it is given, in whatever form.
        names: names in the code of all other methods of the class.
        working: those in methods that do not only create the object.
    """

    receiver: Object = field(default_factory=Object)
    returns: Value = field(default_factory=Value)
    automatic: bool | None = True
    names: frozenset[str] = frozenset()
    working: frozenset[str] = frozenset()


@dataclass(eq=False)
class Sharded(Event):
    """A module's parameters are shared out among ranks.

    Args:
        replaces: whether the module has other parameters afterwards; None where that is unknown.
        flat: whether the shards are parts of flat parameters, each of a whole module.
        shards: whether each rank certainly holds a part of the gradients alone.
    """

    module: Value = field(default_factory=Value)
    name: str = ""
    replaces: bool | None = True
    flat: bool = False
    shards: bool = True


@dataclass(eq=False)
class Streamed(Event):
    """A loader is made over a stream of the program's own.

    Args:
        over: what the loops in its `__iter__` go through.
        inner: generators of the program's own among these, which yield in loops that are among these too.
        yields: what it yields, where it does.
        asks: whether it asks which worker it is, as far as its code is known.
    """

    loader: Object = field(default_factory=Object)
    over: tuple[Value, ...] = ()
    inner: tuple[Value, ...] = ()
    yields: tuple[Value, ...] = ()
    asks: bool | None = False


@dataclass(eq=False)
class Formatted(Event):
    """A trainer is given a function of the program's that makes each sample one text; `text` is what it gives."""

    trainer: Object = field(default_factory=Object)
    text: Value = field(default_factory=Value)
