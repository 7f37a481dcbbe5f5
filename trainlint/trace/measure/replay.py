"""Copies of models and optimizer that take the recorded step again, and go on from there."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import torch

from trainlint.trace.watch.graph import tensors
from trainlint.trace.watch.tape import Called, Leaf, Slot, Taped


class Impossible(Exception):
    """A probe cannot be made here, and why."""


def leaves_of(value: Any) -> Iterator[torch.Tensor]:
    """The trained tensors that a structure of arguments refers to."""
    if isinstance(value, Leaf):
        yield value.tensor
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from leaves_of(one)
    elif type(value) is dict:
        yield from leaves_of(list(value.values()))


class Replay:
    """One set of copies. Raises Impossible where something cannot be copied.

    Args:
        before: modules to copy in the place of others, by identity, such as these as they were at first.
    """

    def __init__(
        self,
        taped: Taped,
        optimizer: torch.optim.Optimizer | None,
        before: dict[int, torch.nn.Module] | None = None,
    ) -> None:
        self._taped = taped
        modules = [one.function for _, one in taped.calls if isinstance(one.function, torch.nn.Module)]
        leaves = [leaf for _, one in taped.calls for leaf in leaves_of([one.args, one.kwargs])]
        memo: dict[int, Any] = {}
        try:
            for one in modules:
                if before is not None and id(one) in before and id(one) not in memo:
                    _stand_in(one, before[id(one)], memo)
            self._modules = {id(one): copy.deepcopy(one, memo) for one in modules}
            self._leaves = {id(one): copy.deepcopy(one, memo) for one in leaves}
            self.optimizer = copy.deepcopy(optimizer, memo) if optimizer is not None else None
        except Exception as error:
            said = str(error).strip().splitlines()
            raise Impossible(f"a copy cannot be made: {said[0] if said else type(error).__name__}") from error
        self.parameters = [one for module in self.modules for one in module.parameters() if one.requires_grad]
        self._switch()

    @property
    def modules(self) -> list[torch.nn.Module]:
        return list(self._modules.values())

    def _switch(self) -> None:
        """Put the copies into the modes in which the modules were called."""
        for _, one in self._taped.calls:
            if isinstance(one.function, torch.nn.Module):
                inner = self._modules[id(one.function)].modules()
                for module, mode in zip(inner, one.modes, strict=False):
                    module.training = mode

    def without_dropout(self) -> None:
        for root in self.modules:
            for one in root.modules():
                if isinstance(one, torch.nn.modules.dropout._DropoutNd):
                    one.eval()

    def loss(self) -> torch.Tensor:
        """Go the way from the inputs to the loss. Raises Impossible where the copies cannot, or nothing can be trained."""
        total = self._gone()
        if not total.requires_grad:
            raise Impossible("the loss has no way back to a parameter")
        return total

    def value(self) -> float:
        return float(self._gone().detach())

    def _gone(self) -> torch.Tensor:
        given: dict[Slot, Any] = {}
        for number, one in self._taped.calls:
            try:
                result = self._called(one, given)
            except Exception as error:
                raise Impossible(f"`{one.name}` cannot be called again: {error}".splitlines()[0]) from error
            for position, tensor in enumerate(result):
                given[Slot(number, position)] = tensor
        try:
            total: torch.Tensor = sum(
                (given[one] for one in self._taped.roots[1:]), given[self._taped.roots[0]]
            )
        except KeyError:
            raise Impossible("called again, the model gives something else") from None
        return total

    def gradients(self) -> float:
        """Compute gradients; gives the loss."""
        for one in self.parameters:
            one.grad = None
        for leaf in self._leaves.values():
            leaf.grad = None
        loss = self.loss()
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def step(self, optimizer: torch.optim.Optimizer) -> float:
        """One step; gives the loss before it."""
        value = self.gradients()
        optimizer.step()
        return value

    def arguments_of(self, called: Called) -> tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any]]:
        """A call of a module with the first inputs, on its copy. Raises Impossible where they are made by another model."""
        given: dict[Slot, Any] = {}
        assert isinstance(called.function, torch.nn.Module)
        try:
            args, kwargs = self._resolved(called.args, given), self._resolved(called.kwargs, given)
        except KeyError:
            raise Impossible("the model is given what another one made") from None
        return self._modules[id(called.function)], args, kwargs

    def _called(self, one: Called, given: dict[Slot, Any]) -> list[torch.Tensor]:
        function = one.function
        if isinstance(function, torch.nn.Module):
            function = self._modules[id(function)]
        args, kwargs = self._resolved(one.args, given), self._resolved(one.kwargs, given)
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.set_grad_enabled(one.records))
            for device, dtype in one.autocast:
                stack.enter_context(torch.autocast(device, dtype=dtype))
            result = function(*args, **kwargs)
        return [args[0]] if one.in_place else tensors(result)

    def _resolved(self, value: Any, given: dict[Slot, Any]) -> Any:
        if isinstance(value, Slot):
            return given[value]
        if isinstance(value, Leaf):
            return self._leaves[id(value.tensor)]
        if isinstance(value, tuple):
            parts = [self._resolved(one, given) for one in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if type(value) is list:
            return [self._resolved(one, given) for one in value]
        if type(value) is dict:
            return {name: self._resolved(one, given) for name, one in value.items()}
        if isinstance(value, torch.Tensor):
            return value.clone()
        return value


def _stand_in(module: torch.nn.Module, earlier: torch.nn.Module, memo: dict[int, Any]) -> None:
    """Let a copy of an earlier state count as the copy of a module, parameter for parameter."""
    memo[id(module)] = made = copy.deepcopy(earlier)
    now, then = dict(module.named_parameters()), dict(made.named_parameters())
    if now.keys() != then.keys():
        raise Impossible("the model has other parameters than when it was called first")
    for name, one in now.items():
        memo[id(one)] = then[name].requires_grad_(one.requires_grad)
