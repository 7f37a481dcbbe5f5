"""The program as `__main__`: its code, found and prepared as Python does it. Imports no torch."""

from __future__ import annotations

import builtins
import importlib.machinery
import os
import sys
import types
from collections.abc import Sequence
from importlib.util import find_spec, module_from_spec

from trainlint.trace.launch.tracebacks import show


class Unrunnable(Exception):
    """There is no such program."""


def of_script(target: str, rest: Sequence[str]) -> tuple[types.CodeType, types.ModuleType]:
    """The code of a script, and a fresh `__main__` for it; `sys` is as under `python`."""
    file = os.path.abspath(target)
    sys.argv = [target, *rest]
    if not _is_safe_path():
        sys.path[0] = os.path.dirname(os.path.realpath(target))
    main = _fresh_main()
    main.__file__ = file
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", file)
    main.__dict__["__cached__"] = None
    with open(target, "rb") as source:
        data = source.read()
    try:
        return compile(data, file, "exec", dont_inherit=True), main
    except (SyntaxError, ValueError) as error:
        show(error.with_traceback(None))
        raise Unrunnable(f"{target} cannot be compiled: {error}") from None


def of_module(name: str, rest: Sequence[str]) -> tuple[types.CodeType, types.ModuleType]:
    """The code of a module, or of the `__main__` of a package, as `python -m` finds it."""
    if not _is_safe_path():
        sys.path[0] = os.getcwd()
    sys.argv = ["-m", *rest]
    try:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = find_spec(name)
    except (ImportError, ValueError) as error:
        raise Unrunnable(f"the module `{name}` cannot be found: {error}") from None
    loader = spec.loader if spec is not None else None
    try:
        code = getattr(loader, "get_code", lambda _: None)(name)
    except SyntaxError as error:
        show(error.with_traceback(None))
        raise Unrunnable(f"{error.filename} cannot be compiled: {error}") from None
    if spec is None or code is None:
        raise Unrunnable(f"no module named `{name}` can be run")
    main = _fresh_main()
    made = vars(module_from_spec(spec))
    kept = {key: value for key, value in made.items() if key not in ("__name__", "__builtins__")}
    main.__dict__.update(kept)
    sys.argv[0] = spec.origin or name
    return code, main


def _fresh_main() -> types.ModuleType:
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    if sys.version_info < (3, 14):
        vars(module).update(__annotations__={})
    sys.modules["__main__"] = module
    return module


def _is_safe_path() -> bool:
    """Whether Python was told not to look for modules beside the program; `child.py` has added no path then."""
    return bool(getattr(sys.flags, "safe_path", False))
