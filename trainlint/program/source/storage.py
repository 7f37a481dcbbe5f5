"""Modules as bytes and back. A cache lies in the user's tree, so what is read from it is not trusted:
only the classes of `syntax` can come out, and no code runs.

The body of each function of a file or a class is bytes of its own inside, which are unpacked when it is asked for."""

from __future__ import annotations

import copyreg
import io
import pickle
from array import array
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from trainlint.program.source import syntax

_ALLOWED = {name: found for name, found in vars(syntax).items() if isinstance(found, type)}
_BUILTINS = {"frozenset": frozenset, "object": object, "complex": complex, "Ellipsis": Ellipsis}
_HEAD = tuple(name for name in syntax.Function.__slots__ if name != "body")

for _kind in _ALLOWED.values():
    copyreg._slotnames(_kind)  # type: ignore[attr-defined]  # which notes them on the class: so it does when one is packed
_BEFORE = {kind: dict(vars(kind)) for kind in _ALLOWED.values()}


class Corrupt(Exception):
    """Bytes that are not a module."""


class _Pickler(pickle.Pickler):
    def reducer_override(self, one: Any) -> Any:
        if type(one) is not syntax.Function or one.name == "<lambda>":
            return NotImplemented
        state = {name: getattr(one, name) for name in _HEAD}
        state["packed"] = pickle.dumps(one.body, protocol=5)
        return copyreg.__newobj__, (syntax.Function,), (None, state)  # type: ignore[attr-defined]


class _Unpickler(pickle.Unpickler):
    """Args:
    named: filled with the classes of `syntax` that the bytes name.
    """

    def __init__(self, data: bytes, named: set[type]) -> None:
        super().__init__(io.BytesIO(data))
        self._named = named

    def find_class(self, module: str, name: str) -> Any:
        if module == syntax.__name__ and name in _ALLOWED:
            self._named.add(_ALLOWED[name])
            return _ALLOWED[name]
        if module == "builtins" and name in _BUILTINS:
            return _BUILTINS[name]
        if (module, name) == ("copyreg", "_reconstructor"):
            return copyreg._reconstructor  # type: ignore[attr-defined]
        raise Corrupt(f"{module}.{name}")


def packed(module: syntax.Module) -> bytes:
    """Raises RecursionError where code is nested too deeply."""
    file = io.BytesIO()
    _Pickler(file, protocol=5).dump(replace(module, lines=array("I", module.lines).tobytes()))
    return file.getvalue()


def compact(module: syntax.Module) -> syntax.Module:
    """The same module, with the bodies of its functions as bytes; itself where it is nested too deeply for that."""
    with suppress(RecursionError):
        return unpacked(packed(module))
    return module


def unpacked(data: bytes) -> syntax.Module:
    """Raises `Corrupt`."""
    found = _unpickled(data, _BEFORE)
    if not isinstance(found, syntax.Module):
        raise Corrupt("no module")
    try:
        found.lines = memoryview(found.lines).cast("I")  # type: ignore[arg-type]
    except (AttributeError, TypeError, ValueError) as error:
        raise Corrupt(str(error)) from None
    return found


def unpacked_body(data: bytes) -> syntax.Block:
    """Nothing where the bytes are no body, which nobody but a forger of caches gets to see."""
    try:
        found = _unpickled(data)
    except Corrupt:
        return ()
    return found if isinstance(found, tuple) else ()


def _unpickled(data: bytes, suspects: Iterable[type] = ()) -> Any:
    """Args:
    suspects: classes that are mended if they are not what they were, beside those that the bytes name.
    """
    named: set[type] = set()
    try:
        found = _Unpickler(data, named).load()
    except Exception as error:  # damaged bytes raise nearly anything
        raise Corrupt(str(error)) from None
    finally:
        changed = _mended(named.union(suspects))
    if changed:
        raise Corrupt("it changes classes")
    return found


def _mended(kinds: set[type]) -> bool:
    """Give classes back what they had: bytes can set attributes of a class that they name. Whether any had to be."""
    changed = [kind for kind in kinds if vars(kind) != _BEFORE[kind]]
    for kind in changed:
        for name in vars(kind).keys() - _BEFORE[kind].keys():
            delattr(kind, name)
        for name, held in _BEFORE[kind].items():
            if vars(kind)[name] is not held:
                setattr(kind, name, held)
    return bool(changed)
