"""Modules that a program may import later: what is to be done as soon as they are there."""

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

    Args:
        awaited: what to call, by the full name of the module.
    """

    def __init__(self, awaited: Mapping[str, Arrived]) -> None:
        self._awaited = dict(awaited)
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
        arrived = self._awaited.pop(name, None)
        if arrived is None:
            return None
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        loader, run = spec.loader, spec.loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            loader.exec_module = run  # type: ignore[method-assign]
            run(module)
            if self in sys.meta_path:
                arrived(module)

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
