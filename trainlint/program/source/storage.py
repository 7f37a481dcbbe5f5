"""Modules as bytes and back. A cache lies in the user's tree, so what is read from it is not trusted:
only the classes of `syntax` can come out, and no code runs."""

from __future__ import annotations

import copyreg
import io
import pickle
from typing import Any

from trainlint.program.source import syntax

_ALLOWED = {name: found for name, found in vars(syntax).items() if isinstance(found, type)}
_BUILTINS = {"frozenset": frozenset, "object": object, "complex": complex, "Ellipsis": Ellipsis}

for _kind in _ALLOWED.values():
    copyreg._slotnames(_kind)  # type: ignore[attr-defined]  # which notes them on the class: so it does when one is packed
_BEFORE = {kind: dict(vars(kind)) for kind in _ALLOWED.values()}


class Corrupt(Exception):
    """Bytes that are not a module."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module == syntax.__name__ and name in _ALLOWED:
            return _ALLOWED[name]
        if module == "builtins" and name in _BUILTINS:
            return _BUILTINS[name]
        if (module, name) == ("copyreg", "_reconstructor"):
            return copyreg._reconstructor  # type: ignore[attr-defined]
        raise Corrupt(f"{module}.{name}")


def unpacked(data: bytes) -> syntax.Module:
    """Raises `Corrupt`."""
    try:
        found = _Unpickler(io.BytesIO(data)).load()
    except Exception as error:  # damaged bytes raise nearly anything
        raise Corrupt(str(error)) from None
    finally:
        changed = _mended()
    if changed:
        raise Corrupt("it changes classes")
    if not isinstance(found, syntax.Module):
        raise Corrupt("no module")
    return found


def _mended() -> bool:
    """Give classes back what they had: bytes can set attributes of a class that they name. Whether any had to be."""
    changed = [kind for kind, before in _BEFORE.items() if vars(kind) != before]
    for kind in changed:
        for name in vars(kind).keys() - _BEFORE[kind].keys():
            delattr(kind, name)
        for name, held in _BEFORE[kind].items():
            if vars(kind)[name] is not held:
                setattr(kind, name, held)
    return bool(changed)
