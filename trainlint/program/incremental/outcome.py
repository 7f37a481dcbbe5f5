"""What evaluating one entry point has led to, in a form that can be kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from trainlint.finding import Finding
from trainlint.program.evaluate.uses import Code
from trainlint.reached import Reached


@dataclass(frozen=True)
class Outcome:
    """What the rules said of an entry point, and what that follows from."""

    findings: tuple[Finding, ...]
    uses: frozenset[str]
    lists: frozenset[str]
    reached: frozenset[Code]
    code: frozenset[Code]
    asked: frozenset[str]
    tables: frozenset[str]
    fills: frozenset[str]
    limited: tuple[Reached, ...] = ()
    """Limits that were reached in it."""


class Sharing:
    """Thousands of entry points follow from the same files and functions: these are held once."""

    def __init__(self) -> None:
        self._known: dict[object, Any] = {}

    def shared(self, one: Outcome) -> Outcome:
        """The same, made of parts that others have too."""
        return replace(
            one,
            uses=self._set(one.uses),
            lists=self._set(one.lists),
            reached=self._set(one.reached),
            code=self._set(one.code),
            asked=self._set(one.asked),
            tables=self._set(one.tables),
            fills=self._set(one.fills),
        )

    def _set(self, parts: frozenset[Any]) -> frozenset[Any]:
        found: frozenset[Any] | None = self._known.get(parts)
        if found is None:
            found = frozenset(map(self._one, parts))
            self._known[found] = found
        return found

    def _one(self, part: Any) -> Any:
        found = self._known.get(part)
        if found is None:
            found = (self._one(part[0]), part[1]) if isinstance(part, tuple) else part
            self._known[found] = found
        return found


@dataclass(frozen=True)
class Method:
    """The `__init__` of a class: where its code is, and every name in it."""

    code: Code
    names: frozenset[str]


@dataclass(frozen=True)
class DefinedClass:
    """A class that the body of a file has defined."""

    name: str
    init: Method | None
    needs_instance: bool
    """Whether it may have something to say that only shows when it is made."""


@dataclass(frozen=True)
class DefinedFunction:
    """A function or method that the body of a file has defined; `owner` is the position of its class."""

    name: str
    code: Code
    names: frozenset[str]
    owner: int | None


@dataclass(frozen=True)
class Defined:
    """What may be entry points in a file, besides its body."""

    classes: tuple[DefinedClass, ...]
    functions: tuple[DefinedFunction, ...]


Entry = tuple[str, str, int]
"""An entry point: "program", "class" or "function"; its file; its position among what the file defines."""


@dataclass(frozen=True)
class Turn:
    """An entry point whose turn comes if none before it has reached its code."""

    entry: Entry
    code: Code | None
