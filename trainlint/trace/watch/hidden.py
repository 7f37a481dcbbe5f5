"""Torch without the recorder's function mode, for code that takes another path where there is any mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.overrides import TorchFunctionMode


def put_beneath(mode: TorchFunctionMode) -> None:
    """Put a mode under all that are active, so that blocks which are open now can still be left in their order."""
    depth = torch._C._len_torch_function_stack()
    above = [torch._C._get_function_stack_at(number) for number in range(depth)]
    for _ in above:
        torch._C._pop_torch_function_stack()
    _put([mode, *above])


def take_out(mode: TorchFunctionMode) -> None:
    """Take a mode out for good, wherever it is."""
    _put(_taken_out(mode) or [])


@contextmanager
def hidden(mode: TorchFunctionMode | None) -> Iterator[None]:
    """Take one mode out of torch's stack of modes, and put it back to where it was. Does nothing if it is not there."""
    above = _taken_out(mode)
    if above is None or mode is None:
        yield
        return
    _put(above)
    try:
        yield
    finally:
        for _ in above:
            torch._C._pop_torch_function_stack()
        _put([mode, *above])


def _taken_out(mode: TorchFunctionMode | None) -> list[object] | None:
    """Pop the stack down to a mode and the mode itself; what lay above it."""
    depth = torch._C._len_torch_function_stack()
    stack = [torch._C._get_function_stack_at(number) for number in range(depth)]
    place = next((number for number, one in enumerate(stack) if one is mode), None)
    if place is None:
        return None
    for _ in stack[place:]:
        torch._C._pop_torch_function_stack()
    return stack[place + 1 :]


def _put(modes: list[object]) -> None:
    for one in modes:
        torch._C._push_on_torch_function_stack(one)
