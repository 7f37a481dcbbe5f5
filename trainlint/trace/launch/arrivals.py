"""Modules that a program may import later: what is to be done as soon as they are there. Imports no torch."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

Arrived = Callable[[types.ModuleType], None]


class Arrivals(importlib.abc.MetaPathFinder):
    """Calls a function with each of some modules: at once for those that are imported, else when they are.

    It stands among Python's finders as long as it waits for one.

    Args:
        awaited: what to call, by the full name of the module.
    """

    def __init__(self, awaited: Mapping[str, Arrived]) -> None:
        self._awaited = dict(awaited)
        self._looked_for: set[str] = set()
        for name in awaited:
            module = sys.modules.get(name)
            if module is not None:
                self._awaited.pop(name)(module)
        if self._awaited:
            sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Wait for nothing more."""
        self._awaited.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name not in self._awaited or name in self._looked_for:
            return None
        self._looked_for.add(name)
        try:
            spec = find_spec(name)
        finally:
            self._looked_for.remove(name)
        if spec is None or spec.loader is None:
            return spec
        loader, run = spec.loader, spec.loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            loader.exec_module = run  # type: ignore[method-assign]
            run(module)
            self._arrived(name, module)

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def _arrived(self, name: str, module: types.ModuleType) -> None:
        call = self._awaited.pop(name, None)
        if not self._awaited:
            self.remove()
        if call is not None:
            call(module)
