"""What a whole check has found, for the quick checks of the texts that come after it.

A quick check does not look at all files. What it overlooks, and what it takes for wrong without them, is known from
the last text that was checked both ways: so nothing comes and goes while somebody types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trainlint.check.ignore import UNUSED_CODE
from trainlint.finding import Finding, Place
from trainlint.server.documents import Document
from trainlint.server.moved import Change, moved


class Earlier:
    """Follows the findings of the last whole check through the changes since then."""

    def __init__(self) -> None:
        self._documents: Mapping[str, Document] = {}
        """What the places of all findings count through."""
        self._quick: Sequence[Finding] = ()
        """What a quick check has found in these very documents."""
        self._overlooked: Sequence[Finding] = ()
        """What a quick check does not see."""
        self._refuted: Sequence[Finding] = ()
        """What only a quick check takes for wrong."""
        self._idle: Sequence[Finding] = ()
        """Comments that silence nothing."""

    def whole(self, found: Sequence[Finding], documents: Mapping[str, Document]) -> None:
        """Take note of a whole check."""
        quick = self._quick if documents == self._documents else ()
        self._overlooked = _without(found, quick)
        self._refuted = _without(quick, found)
        self._documents = documents

    def added(self, found: Sequence[Finding], documents: Mapping[str, Document]) -> list[Finding]:
        """What a quick check has found, as a whole one would see it, as far as can be told."""
        changes = {
            path: Change(before.lines, documents[path].lines)
            for path, before in self._documents.items()
            if path in documents and documents[path] != before
        }
        self._overlooked = moved(self._overlooked, changes)
        self._refuted = moved(self._refuted, changes)
        self._idle = moved(self._idle, changes)
        self._documents, self._quick = documents, found
        return [*_without(found, self._refuted), *_without(self._overlooked, found)]

    def with_idle_comments(self, found: list[Finding], *, whole: bool) -> list[Finding]:
        """A whole check has looked for comments that silence nothing; for a quick one, they are those that it found."""
        if whole:
            self._idle = [one for one in found if one.code == UNUSED_CODE]
            return found
        return sorted([*found, *self._idle], key=lambda one: one.at)


def _without(some: Iterable[Finding], others: Iterable[Finding]) -> list[Finding]:
    """Those that are not among others."""
    known = {_identity(one) for one in others}
    return [one for one in some if _identity(one) not in known]


def _identity(one: Finding) -> tuple[str, Place]:
    return one.code, one.at
