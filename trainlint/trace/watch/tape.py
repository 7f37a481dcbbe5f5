"""From the models' inputs to the loss: what the program called on the way, kept so that copies can go it again."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from trainlint.trace.watch.graph import tensors
from trainlint.trace.watch.objects import unwrapped
from trainlint.trace.watch.optimizers import innermost

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_MOST = 20_000
"""Calls of one step that are kept."""
_SMALL = 2**18
"""Elements of a tensor that is copied, as the program may change it in place."""
_DEVICES = ("cpu", "cuda")


class Slot(NamedTuple):
    """The n-th tensor that a call gave."""

    call: int
    position: int


class Leaf(NamedTuple):
    """A tensor that is trained, and that copies have a copy of."""

    tensor: torch.Tensor


@dataclass(frozen=True)
class Called:
    """A call of a function of torch's, or of a module that has parameters."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    records: bool
    autocast: tuple[tuple[str, torch.dtype], ...]
    in_place: bool = False
    modes: tuple[bool, ...] = ()
    """For a module: which of its modules are in training mode."""


@dataclass(frozen=True)
class Taped:
    """The way to what gradients were computed for."""

    calls: tuple[tuple[int, Called], ...]
    roots: tuple[Slot, ...]


class Tape:
    """Writes down the calls between two steps of an optimizer; nothing, unless it is switched on."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.is_on = False
        self.keeps_begun = False
        self.unusable = ""
        """Why the latest way cannot be gone again."""
        self.begun: dict[int, tuple[torch.nn.Module, torch.nn.Module | None]] = {}
        """Each module as it was before its first call, by its identity; None for one that cannot be copied."""
        self._stepped: dict[int, torch.optim.Optimizer] = {}
        self._inside: torch.nn.Module | None = None
        self._latest: Taped | None = None
        self._begin_again()

    def _begin_again(self) -> None:
        self._calls: list[Called] = []
        self._roots: list[Slot] = []
        self._slots: dict[int, tuple[weakref.ref[torch.Tensor], Slot]] = {}
        self._why = ""

    # What the program does

    def enter(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Called | None:
        """A module is about to be called; gives what `leave` wants."""
        if not self.is_on or self._inside is not None or self._recorder.steps.inside:
            return None
        module = unwrapped(module)
        if next(module.parameters(), None) is None:
            return None
        if self._roots and any(one.function is module for one in self._calls):
            self._finish()
        if self.keeps_begun and id(module) not in self.begun:
            self.begun[id(module)] = module, _copied(module)
        self._inside = module
        modes = tuple(one.training for one in module.modules())
        return self._call(type(module).__name__, module, args, kwargs, modes=modes)

    def leave(self, called: Called | None, result: Any) -> None:
        self._inside = None
        if called is not None and result is not None:
            self._add(called, tensors(result))

    def operation(
        self,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        result: Any,
        in_place: bool,
    ) -> None:
        """A function of torch's gave a result."""
        if self._inside is not None or self._recorder.steps.inside:
            return
        found = [result] if isinstance(result, torch.Tensor) else tensors(result)
        if in_place and args and isinstance(args[0], torch.Tensor):
            found = [args[0]]
        if not found or (in_place and self._slot(found[0]) is None):
            return
        if any(map(self._is_followed, tensors([list(args), dict(kwargs)]))):
            self._add(self._call(name, function, args, kwargs, in_place=in_place), found)

    def is_scaled(self, before: torch.Tensor, after: torch.Tensor) -> None:
        """A gradient scaler has made a loss larger: copies do without."""
        slot = self._slot(before)
        if slot is not None:
            self._note(after, slot)

    def runs_back(self, losses: Sequence[Any]) -> None:
        """Gradients are about to be computed."""
        if not self.is_on or self._recorder.steps.inside:
            return
        for loss in losses:
            slot = self._slot(loss) if isinstance(loss, torch.Tensor) else None
            if slot is None or loss.numel() != 1:
                self._why = self._why or "`backward()` runs on something else than one number made by a model"
            else:
                self._roots.append(slot)

    def stepped(self, optimizer: torch.optim.Optimizer) -> None:
        if self.is_on:
            self._stepped[id(optimizer)] = optimizer
            self._finish()

    def optimizers(self) -> list[torch.optim.Optimizer]:
        """Those that have stepped, without those that only stand around another."""
        return [one for one in self._stepped.values() if innermost(one) is one]

    def latest(self) -> Taped | None:
        """The latest way that led to gradients."""
        self._finish()
        return self._latest

    # How it is kept

    def _finish(self) -> None:
        if self._roots or self._why:
            self.unusable = self._why
            self._latest = None if self._why else Taped(tuple(self._needed()), tuple(self._roots))
        self._begin_again()

    def _needed(self) -> Iterator[tuple[int, Called]]:
        """The calls that a root is made of; and those that change something in place, as views hide what."""
        needed = {one.call for one in self._roots}
        last = max(needed)
        for number in range(last, -1, -1):
            called = self._calls[number]
            if number in needed or called.in_place:
                needed.add(number)
                needed.update(one.call for one in slots([called.args, called.kwargs]))
        return ((number, self._calls[number]) for number in sorted(needed))

    def _call(
        self,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        in_place: bool = False,
        modes: tuple[bool, ...] = (),
    ) -> Called:
        autocast = tuple(
            (one, torch.get_autocast_dtype(one)) for one in _DEVICES if torch.is_autocast_enabled(one)
        )
        given, named = self._refer(tuple(args)), self._refer(dict(kwargs))
        return Called(name, function, given, named, torch.is_grad_enabled(), autocast, in_place, modes)

    def _add(self, called: Called, found: Sequence[torch.Tensor]) -> None:
        if len(self._calls) >= _MOST:
            self._why = f"more than {_MOST:,} calls lead from the models to the loss"
            return
        self._calls.append(called)
        for position, one in enumerate(found):
            self._note(one, Slot(len(self._calls) - 1, position))

    def _note(self, tensor: torch.Tensor, slot: Slot) -> None:
        self._slots[id(tensor)] = weakref.ref(tensor), slot

    def _slot(self, tensor: torch.Tensor) -> Slot | None:
        held = self._slots.get(id(tensor))
        return held[1] if held is not None and held[0]() is tensor else None

    def _is_followed(self, tensor: torch.Tensor) -> bool:
        return tensor.requires_grad or self._slot(tensor) is not None

    def _refer(self, value: Any) -> Any:
        """An argument with slots and leaves in the place of what copies have in another form."""
        if isinstance(value, torch.Tensor):
            return self._refer_to(value)
        if isinstance(value, tuple):
            parts = [self._refer(one) for one in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if type(value) is list:
            return [self._refer(one) for one in value]
        if type(value) is dict:
            return {name: self._refer(one) for name, one in value.items()}
        if any(map(self._is_followed, tensors(value))):
            self._why = f"what a model gave is passed on in a {type(value).__name__}"
        return value

    def _refer_to(self, tensor: torch.Tensor) -> Any:
        slot = self._slot(tensor)
        if slot is not None:
            return slot
        if tensor.requires_grad and tensor.is_leaf:
            return Leaf(tensor)
        if tensor.requires_grad:
            self._why = "what a model gave reaches the loss by an operation that was not seen"
        return tensor.detach().clone() if tensor.numel() <= _SMALL else tensor.detach()


def slots(value: Any) -> Iterator[Slot]:
    """Every slot in a structure."""
    if isinstance(value, Slot):
        yield value
    elif isinstance(value, (tuple, list)) and not isinstance(value, Leaf):
        for one in value:
            yield from slots(one)
    elif type(value) is dict:
        yield from slots(list(value.values()))


def _copied(module: torch.nn.Module) -> torch.nn.Module | None:
    try:
        return copy.deepcopy(module)
    except Exception:  # the program's own code; and tensors with a history cannot be copied
        return None
