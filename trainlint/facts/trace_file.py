"""Recordings as JSON and back, so that one can be judged again later, and where there is no torch."""

from __future__ import annotations

import json
import math
from dataclasses import MISSING, fields, replace
from enum import Enum
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import EllipsisType
from typing import Any

from trainlint.facts import seen
from trainlint.facts.api.meanings import Meaning
from trainlint.facts.model import events, modules, values
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Value
from trainlint.facts.typed import is_sound
from trainlint.finding import Place

VERSION = 2

_EACH = [
    import_module(f"{package.__name__}.{module.name}")
    for package in (events, seen)
    for module in iter_modules(package.__path__)
]
_CLASSES: dict[str, type] = {
    name: kind
    for module in (values, modules, *_EACH)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__")
}
_ONLY_OF_SOURCE = ("unread", "is_test", "earlier")
"""What no recording fills in, so that none is written."""
_RECORDED = tuple(one.name for one in fields(Recorded) if one.name not in (*_ONLY_OF_SOURCE, "later"))


class NotATrace(Exception):
    """A file that is no trace, or one of another version."""


def dumped(recorded: Recorded) -> str:
    """The recording as one JSON document."""
    document = {"trainlint-trace": VERSION, **_phase(recorded), "later": [*map(_phase, recorded.later)]}
    return json.dumps(document, separators=(",", ":"))


def _phase(recorded: Recorded) -> dict[str, Any]:
    writer = _Writer()
    body = {name: writer.encode(getattr(recorded, name)) for name in _RECORDED}
    writer.drain()
    return {"places": writer.places, "values": writer.values, **body}


def loaded(text: str) -> Recorded:
    """Raises NotATrace."""
    try:
        document = json.loads(text)
        if document["trainlint-trace"] != VERSION:
            raise NotATrace(f"it was written by another version of trainlint ({document['trainlint-trace']})")
        first, *later = (_read(one) for one in (document, *document.get("later", ())))
        return replace(first, later=tuple(later))
    except NotATrace:
        raise
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise NotATrace("it is not a trace, or it is damaged") from error


def _read(document: dict[str, Any]) -> Recorded:
    """One phase."""
    reader = _Reader(document["places"], document["values"])
    recorded = Recorded(**{name: reader.decode(document[name]) for name in _RECORDED})
    if not is_sound(recorded) or not all(type(one).__name__ in _CLASSES for one in recorded.seen):
        raise NotATrace("it is damaged")
    return recorded


def load(path: Path) -> Recorded:
    """Raises NotATrace, and OSError where the file cannot be read."""
    return loaded(path.read_text(encoding="utf-8", errors="replace"))


class _Writer:
    def __init__(self) -> None:
        self.places: list[list[Any]] = []
        self.values: list[Any] = []
        self._place_numbers: dict[Place, int] = {}
        self._value_numbers: dict[int, int] = {}
        self._pending: list[tuple[int, Value]] = []

    def encode(self, thing: Any) -> Any:
        """Plain things as they are; all others as an object with one key that says what it is."""
        match thing:
            case None | bool() | int() | str():
                return thing
            case EllipsisType():
                return {"rest": "..."}
            case float():
                return thing if math.isfinite(thing) else {"float": str(thing)}
            case Place():
                return {"at": self._place(thing)}
            case Value():
                return {"value": self._value(thing)}
            case list():
                return [self.encode(one) for one in thing]
            case tuple():
                return {"tuple": [self.encode(one) for one in thing]}
            case frozenset() | set():
                return {"set": [self.encode(one) for one in sorted(thing)]}
            case dict():
                return {"dict": [[self.encode(key), self.encode(one)] for key, one in thing.items()]}
            case Enum():
                return {"meaning": thing.name}
        if type(thing).__name__ in _CLASSES:
            return {"a": type(thing).__name__, **self._fields(thing)}
        return None

    def drain(self) -> None:
        """Write what the values that were met refer to."""
        while self._pending:
            number, value = self._pending.pop()
            self.values[number] = {"a": type(value).__name__, **self._fields(value)}

    def _fields(self, thing: Any) -> dict[str, Any]:
        found = {}
        for one in fields(thing):
            held = getattr(thing, one.name)
            default = one.default_factory() if one.default_factory is not MISSING else one.default
            if one.init and (type(held) is not type(default) or held != default):
                found[one.name] = self.encode(held)
        return found

    def _place(self, place: Place) -> int:
        number = self._place_numbers.get(place)
        if number is None:
            number = self._place_numbers[place] = len(self.places)
            self.places.append(list(place))
        return number

    def _value(self, value: Value) -> int:
        number = self._value_numbers.get(value.uid)
        if number is None:
            number = self._value_numbers[value.uid] = len(self.values)
            self.values.append(None)
            self._pending.append((number, value))
        return number


class _Reader:
    def __init__(self, places: list[Any], encoded: list[Any]) -> None:
        self._places = [_place(*one) for one in places]
        self._values: list[Any] = [_CLASSES[one["a"]]() for one in encoded]
        for value, one in zip(self._values, encoded, strict=True):
            for name, held in one.items():
                if name != "a":
                    setattr(value, name, self.decode(held))
        if not all(map(is_sound, self._values)):
            raise NotATrace("it is damaged")

    def decode(self, thing: Any) -> Any:
        if isinstance(thing, list):
            return [self.decode(one) for one in thing]
        if not isinstance(thing, dict):
            return thing
        match thing:
            case {"a": str(name), **held}:
                found = _CLASSES[name](**{key: self.decode(one) for key, one in held.items()})
                if is_sound(found):
                    return found
            case {"at": int(number)}:
                return self._places[number]
            case {"value": int(number)}:
                return self._values[number]
            case {"tuple": list(items)}:
                return tuple(self.decode(one) for one in items)
            case {"set": list(items)}:
                return frozenset(self.decode(one) for one in items)
            case {"dict": list(items)}:
                return {self.decode(key): self.decode(one) for key, one in items}
            case {"rest": "..."}:
                return ...
            case {"float": str(text)}:
                return float(text)
            case {"meaning": str(name)}:
                return Meaning[name]
        raise NotATrace("it is damaged")


def _place(path: str, line: int, column: int, end_line: int, end_column: int, cell: object) -> Place:
    numbers = (line, column, end_line, end_column)
    if not isinstance(path, str) or not all(type(one) is int for one in numbers) or cell is not None:
        raise NotATrace("it is damaged")
    return Place(path, *numbers)
