"""Something that happens in a training program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trainlint.facts.model.values import Object, Value
from trainlint.finding import Place


@dataclass(eq=False)
class Event:
    """Something that happened.

    Args:
        at: the place in the source that does it.
        calls: the calls that led there, outermost first.
        loops: the loops around it, outermost first, through all calls.
        guards: keys of the undecided conditions it stands under, and which way each went.
        autocast: the regions of autocast around it, or what may be one, outermost first.
        regions: those of frameworks around it, or what may be one, outermost first.
    """

    at: Place
    calls: tuple[Place, ...] = ()
    loops: tuple[int, ...] = ()
    guards: tuple[tuple[Any, bool], ...] = ()
    autocast: tuple[Value, ...] = ()
    regions: tuple[Value, ...] = ()


@dataclass(eq=False)
class Escape(Event):
    """Something unknown is called with these values, and may do anything to them.

    Args:
        by: the last word of what is called, `save` for `utils.save(…)`; empty where that is not known.
    """

    values: tuple[Value, ...] = ()
    tensors: tuple[Value, ...] = ()
    """What else it is given: the most that it may do with these is to run their backward."""
    by: str = ""


@dataclass(eq=False)
class Returned(Event):
    """The program's entry point hands a value to a caller that is not seen; `receiver` is the object whose method it is."""

    value: Value = field(default_factory=Value)
    receiver: Object | None = None
