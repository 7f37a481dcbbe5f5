"""What the program's own modules hold beside its models: generators of random numbers, and plain counters."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_PLAIN = (bool, int, float, str, type(None))


@contextlib.contextmanager
def unchanged(recorder: Recorder) -> Iterator[None]:
    """Put back afterwards what the program keeps in its modules, as far as it is plain or a generator."""
    spaces = [vars(one) for one in list(sys.modules.values()) if _is_own(recorder, one)]
    plain = [
        (space, {name: one for name, one in space.items() if isinstance(one, _PLAIN)}) for space in spaces
    ]
    inside = [one for space in spaces for one in space.values()]
    inside += [
        one for thing in inside for one in getattr(thing, "__dict__", {}).values() if not callable(thing)
    ]
    restore = [again for one in inside if (again := _restorer(one)) is not None]
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


def _restorer(thing: Any) -> Callable[[], object] | None:
    """How to put a generator back to where it is now; None for what is none."""
    if isinstance(thing, random.Random):
        drawn = thing.getstate()
        return lambda: thing.setstate(drawn)
    if isinstance(thing, torch.Generator):
        state = thing.get_state()
        return lambda: thing.set_state(state)
    if type(thing).__module__.startswith("numpy.random"):
        if hasattr(thing, "bit_generator"):
            bits = thing.bit_generator.state
            return lambda: setattr(thing.bit_generator, "state", bits)
        if hasattr(thing, "get_state"):
            known = thing.get_state()
            return lambda: thing.set_state(known)
    return None
