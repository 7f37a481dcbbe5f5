"""Tensors and the values that they are: what made each one, kept only as long as the tensor lives."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import torch

from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.model.values import Constant, Items, Named, Object, Op, TensorSeen, Unknown, Value

_PLAIN = (bool, int, float, str, type(None))
_MOST_ITEMS = 64


class Graph:
    """A value for every living tensor that the recorder has met."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[weakref.ref[torch.Tensor], Value]] = {}
        self._storages: dict[int, tuple[weakref.ref[torch.Tensor], Value]] = {}
        self.modules: dict[int, Object] = {}

    def note(self, tensor: torch.Tensor, value: Value) -> None:
        """From now on, this tensor is that value."""
        key = id(tensor)
        values = self._values

        def forget(gone: weakref.ref[torch.Tensor]) -> None:
            held = values.get(key)
            if held is not None and held[0] is gone:
                del values[key]

        values[key] = (weakref.ref(tensor, forget), value)

    def known(self, tensor: torch.Tensor) -> Value | None:
        held = self._values.get(id(tensor))
        return held[1] if held is not None and held[0]() is tensor else None

    def of(self, tensor: torch.Tensor) -> Value:
        """What a tensor is; one that the recorder has not seen being made has no history."""
        found = self.known(tensor)
        if found is None:
            found = self._first_seen(tensor)
            self.note(tensor, found)
        return found

    def shares(self, tensor: torch.Tensor, value: Value) -> None:
        """Remember that a value uses a tensor's memory, to know it when it comes back in a tensor that torch did not
        show being made. That holds as long as the tensor lives."""
        address = _address(tensor)
        if not address:
            return
        storages = self._storages

        def forget(gone: weakref.ref[torch.Tensor]) -> None:
            held = storages.get(address)
            if held is not None and held[0] is gone:
                del storages[address]

        storages[address] = (weakref.ref(tensor, forget), value)

    def _first_seen(self, tensor: torch.Tensor) -> Value:
        if isinstance(tensor, torch.nn.Parameter):
            return Op(name=PARAMETER, attached=bool(tensor.requires_grad), seen=seen(tensor))
        held = self._storages.get(_address(tensor) or -1)
        if held is not None and held[0]() is not None:
            return Op(name="alias", inputs=(held[1],), attached=tensor.requires_grad, seen=seen(tensor))
        if tensor.requires_grad and tensor.is_leaf:
            return Op(name="Tensor", is_leaf=True, attached=True, seen=seen(tensor))
        return Op(
            name="tensor data", attached=tensor.requires_grad, records=tensor.requires_grad, seen=seen(tensor)
        )

    def value(self, argument: Any, depth: int = 0) -> Value:
        """Any argument of a call as a value."""
        if isinstance(argument, torch.Tensor):
            return self.of(argument)
        if isinstance(argument, _PLAIN) or argument is ...:
            return Constant(value=argument)
        if isinstance(argument, (tuple, list)) and depth < 3:
            items = [self.value(one, depth + 1) for one in argument[:_MOST_ITEMS]]
            return Items(kind=type(argument).__name__, items=items, exact=len(argument) <= _MOST_ITEMS)
        if isinstance(argument, slice):
            bounds = (argument.start, argument.stop, argument.step)
            return Op(name="[:]", inputs=tuple(self.value(one, depth + 1) for one in bounds))
        if isinstance(argument, torch.dtype):
            return Named(name=str(argument))
        if isinstance(argument, torch.nn.Module):
            return self.modules.get(id(argument)) or Unknown(text=type(argument).__name__)
        return Unknown(text=type(argument).__name__)

    def options(self, arguments: Mapping[str, Any]) -> dict[str, Value]:
        return {name: self.value(one) for name, one in arguments.items()}


def seen(tensor: torch.Tensor) -> TensorSeen:
    shape = () if tensor.is_nested else tuple(tensor.shape)
    return TensorSeen(shape, str(tensor.dtype).removeprefix("torch."), tensor.device.type)


def tensors(value: Any, depth: int = 0) -> list[torch.Tensor]:
    """Every tensor in a structure of tuples, lists, mappings and plain objects with fields."""
    if isinstance(value, torch.Tensor):
        return [value]
    if depth > 4:
        return []
    if isinstance(value, (tuple, list)):
        return [found for one in value[:_MOST_ITEMS] for found in tensors(one, depth + 1)]
    if isinstance(value, Mapping):
        return [found for one in list(value.values())[:_MOST_ITEMS] for found in tensors(one, depth + 1)]
    fields = getattr(value, "__dataclass_fields__", None)
    if fields:
        return [found for name in fields for found in tensors(getattr(value, name, None), depth + 1)]
    return []


def _address(tensor: torch.Tensor) -> int | None:
    try:
        return tensor.untyped_storage().data_ptr()
    except (
        RuntimeError,
        NotImplementedError,
    ):  # a tensor without memory of its own: sparse, meta, functional
        return None
