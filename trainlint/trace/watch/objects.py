"""Modules, optimizers, loaders and scalers of a run, as the objects that rules know."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.api.losses import LOSSES
from trainlint.facts.api.torch_names import canonical, library_bases
from trainlint.facts.model.values import Constant, Items, Object, Op, Table, Value
from trainlint.finding import Place

_PLAIN = (bool, int, float, str, type(None))
_LOADER_OPTIONS = ("batch_size", "num_workers", "pin_memory", "drop_last", "timeout")
_MOST_HELD = 256


def dotted(kind: type) -> str:
    """The name of a class as rules know it: dotted for a library's, plain for the program's own."""
    module = kind.__module__
    if module.startswith("torch.optim.") and not module.startswith(
        ("torch.optim.lr_scheduler", "torch.optim.swa")
    ):
        return f"torch.optim.{kind.__name__}"
    return canonical(f"{module}.{kind.__qualname__}")


class Objects:
    """An `Object` for everything of interest that lives, with the place where the program makes it."""

    def __init__(self, is_own: Any) -> None:
        self._is_own = is_own
        self._held: dict[int, tuple[weakref.ref[Any], Object]] = {}
        self.all: list[Object] = []
        self.by_module: dict[int, Object] = {}

    def made(self, thing: Any, at: Place | None) -> Object:
        """An object that comes into being here."""
        kind = type(thing)
        own = self._is_own(kind)
        names = {
            dotted(base)
            for base in kind.__mro__
            if base is not object and not self._is_own(base) and base.__module__ != "builtins"
        }
        bases = frozenset(found for name in names for found in (name, *library_bases(name)))
        made = Object(
            type=kind.__name__ if own else dotted(kind),
            bases=bases,
            at=at,
            definition=kind.__name__ if own else None,
        )
        self._hold(thing, made)
        self.all.append(made)
        return made

    def of(self, thing: Any) -> Object:
        held = self._held.get(id(thing))
        if held is not None and held[0]() is thing:
            return held[1]
        return self.made(thing, None)

    def _hold(self, thing: Any, made: Object) -> None:
        key = id(thing)

        def forget(gone: weakref.ref[Any]) -> None:
            held = self._held.get(key)
            if held is not None and held[0] is gone:
                del self._held[key]
                self.by_module.pop(key, None)

        self._held[key] = (weakref.ref(thing, forget), made)
        if isinstance(thing, torch.nn.Module):
            self.by_module[key] = made

    def describe(self, module: torch.nn.Module) -> None:
        """Fill in what a module holds, for rules that ask for it."""
        made = self.of(module)
        if made.attributes:
            return
        kept = {
            name: value
            for name, value in vars(module).items()
            if not name.startswith("_") and name != "training"
        }
        made.options.update(
            {name: Constant(value=value) for name, value in kept.items() if isinstance(value, _PLAIN)}
        )
        made.attributes["training"] = Constant(value=module.training)
        for name, child in module.named_children():
            made.attributes[name] = self.of(child)
            self.describe(child)
        if isinstance(module, (torch.nn.Sequential, torch.nn.ModuleList)) and made.at is not None:
            layers = [self.of(one) for one in module._modules.values() if one is not None]
            often = {one.uid: one for one in layers if layers.count(one) > 1}
            made.attributes["what the container holds"] = Items(
                items=list(layers), repeated=tuple((made.at, one) for one in often.values())
            )
        for name, parameter in module.named_parameters(recurse=False):
            made.attributes[name] = Op(name=PARAMETER, attached=parameter.requires_grad)
        for name, value in kept.items():
            held = self._container(value)
            if held is not None:
                made.attributes[name] = held

    def _container(self, value: Any) -> Value | None:
        """A plain container of modules, which torch does not register."""
        inside = list(value.values()) if isinstance(value, dict) else value
        if not isinstance(inside, (list, tuple)) or not inside or len(inside) > _MOST_HELD:
            return None
        if not any(isinstance(one, torch.nn.Module) for one in inside):
            return None
        modules = [one for one in inside if isinstance(one, torch.nn.Module)]
        for one in modules:
            self.describe(one)
        objects: list[Value] = [self.of(one) for one in modules]
        if isinstance(value, dict):
            return Table(entries=dict(zip(map(str, value), objects, strict=False)))
        return Items(kind=type(value).__name__, items=objects)

    def describe_loader(self, loader: Any) -> None:
        options = self.of(loader).options
        for name in _LOADER_OPTIONS:
            value = getattr(loader, name, None)
            if isinstance(value, _PLAIN):
                options[name] = Constant(value=value)


def is_loss(module: torch.nn.Module) -> bool:
    return any(
        dotted(base) in LOSSES for base in type(module).__mro__ if base.__module__.startswith("torch.")
    )


_HOLDS = {"DistributedDataParallel": "module", "DataParallel": "module", "_FabricModule": "_forward_module"}
"""Where a class that only stands around a model keeps it; `torch.compile` has a place of its own."""


def unwrapped(module: torch.nn.Module) -> torch.nn.Module:
    """The model inside what distributes or compiles it."""
    for _ in range(4):
        inner = getattr(module, _HOLDS.get(type(module).__name__, "_orig_mod"), None)
        if not isinstance(inner, torch.nn.Module):
            break
        module = inner
    return module
