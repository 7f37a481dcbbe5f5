"""The inputs of a model, held so that they can be had again later."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch

_SMALL = 2**18
"""Elements of a tensor that is copied: such as tokens, which are often cut out for the call alone."""


class Lost:
    """An argument that cannot be had again."""


LOST = Lost()


def held(value: Any) -> Any:
    """A structure with copies in place of its small tensors, and weak references in place of the others."""
    if isinstance(value, torch.Tensor):
        is_plain = type(value) is torch.Tensor and value.layout is torch.strided and not value.is_meta
        return value.detach().clone() if is_plain and value.numel() <= _SMALL else weakref.ref(value)
    if isinstance(value, (bool, int, float, str, type(None), torch.dtype, torch.device)):
        return value
    return changed(value, held) if type(value) in (tuple, list, dict) else LOST


def had_again(value: Any) -> Any:
    """The same structure with its tensors, and LOST where one is gone."""
    if isinstance(value, weakref.ref):
        found = value()
        return LOST if found is None else found.detach()
    return changed(value, had_again)


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """A structure with every part changed."""
    if type(value) is tuple:
        return tuple(map(change, value))
    if type(value) is list:
        return list(map(change, value))
    if type(value) is dict:
        return {name: change(one) for name, one in value.items()}
    return value


def leaves(value: Any) -> Iterator[Any]:
    """Every part of a structure that has no parts."""
    if type(value) in (tuple, list):
        for one in value:
            yield from leaves(one)
    elif type(value) is dict:
        yield from leaves(list(value.values()))
    else:
        yield value


def arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each argument of a call, by its position or keyword."""
    yield from ((str(position), value) for position, value in enumerate(args))
    yield from kwargs.items()
