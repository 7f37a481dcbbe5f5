"""What the program's own modules hold beside its models: generators of random numbers, and plain counters."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

Again = Callable[[], object]
_PLAIN = (bool, int, float, str, type(None))


@contextlib.contextmanager
def unchanged(recorder: Recorder) -> Iterator[None]:
    """Put back afterwards what the program keeps in its modules, as far as it is plain or a generator."""
    spaces = [vars(one) for one in list(sys.modules.values()) if _is_own(recorder, one)]
    plain = [
        (space, {name: one for name, one in space.items() if isinstance(one, _PLAIN)}) for space in spaces
    ]
    restore = _restorers(spaces)
    try:
        yield
    finally:
        for again in restore:
            again()
        for space, held in plain:
            space.update(held)


def _is_own(recorder: Recorder, module: Any) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and recorder.own.is_own_file(file)


def _restorers(spaces: Iterable[dict[str, Any]]) -> list[Again]:
    """How to put each generator back to where it is now, those that are kept as attributes too."""
    ways: dict[type, Callable[[Any], Again] | None] = {}
    found = []
    for space in spaces:
        for thing in list(space.values()):
            inside = () if callable(thing) else getattr(thing, "__dict__", {}).values()
            for one in (thing, *inside):
                kind = type(one)
                if kind not in ways:
                    ways[kind] = _way(kind)
                if (way := ways[kind]) is not None:
                    found.append(way(one))
    return found


def _way(kind: type) -> Callable[[Any], Again] | None:
    """How to find out for one of a kind how to put it back; None for what is no generator."""
    if issubclass(kind, random.Random):
        return lambda thing: partial(thing.setstate, thing.getstate())
    if issubclass(kind, torch.Generator):
        return lambda thing: partial(thing.set_state, thing.get_state())
    if kind.__module__.startswith("numpy.random"):
        if hasattr(kind, "bit_generator"):
            return lambda thing: partial(setattr, thing.bit_generator, "state", thing.bit_generator.state)
        if hasattr(kind, "get_state"):
            return lambda thing: partial(thing.set_state, thing.get_state())
    return None
