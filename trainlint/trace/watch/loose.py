"""Parameters that an optimizer holds and that belong to no model which was called: what the program calls them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.trace.watch.held_values import parts

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_MOST_VARIABLES = 2_000
_MOST_ITEMS = 1_000
_CONTAINERS = ("builtins", "collections")


def names_in(frame: FrameType | None, wanted: set[int]) -> dict[int, str]:
    """What tensors are called where an optimizer is made: a variable, an entry of a container, an attribute."""
    found: dict[int, str] = {}
    if frame is None or not wanted:
        return found
    for scope in (frame.f_locals, frame.f_globals):
        for name, value in islice(list(scope.items()), _MOST_VARIABLES):
            for inside, tensor in _tensors(name, value):
                if id(tensor) in wanted:
                    found.setdefault(id(tensor), inside)
    return found


def _tensors(name: str, value: Any, depth: int = 2) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors in a variable, each with its name."""
    if issubclass(type(value), torch.Tensor):
        yield name, value
    elif issubclass(type(value), torch.nn.Module):
        yield from ((f"{name}.{path}", one) for path, one in value.named_parameters())
    elif depth and (type(value).__module__ in _CONTAINERS or name == "self"):
        for inside, one in parts(name, value, _MOST_ITEMS):
            yield from _tensors(inside, one, depth - 1)


def loose(recorder: Recorder) -> Iterator[tuple[str, torch.Tensor]]:
    """Each of these parameters with its name."""
    known = {id(one) for root in recorder.models.all() for one in root.parameters()}
    for held, optimizer in recorder.steps.working():
        kind = held.object.type.rpartition(".")[2]
        for group, settings in enumerate(optimizer.param_groups):
            for number, one in enumerate(settings["params"]):
                if id(one) not in known:
                    known.add(id(one))
                    called = held.names.get(id(one))
                    yield called or f"{kind}.param_groups[{group}]['params'][{number}]", one
