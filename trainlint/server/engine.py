"""Open documents to what is wrong with them. Everything is kept in memory that the next keystroke leaves true."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trainlint.catalogue import names
from trainlint.finding import Finding, Problem
from trainlint.ignore import silence
from trainlint.program import reading, sieve
from trainlint.program.groups import check_program
from trainlint.program.loading import load
from trainlint.select import selected
from trainlint.server.documents import Document
from trainlint.server.memory import Disk, Memory, Overlaid
from trainlint.server.moved import moved
from trainlint.server.neighbours import Neighbours
from trainlint.server.settings import AllSettings, Settings
from trainlint.soundness import parses
from trainlint.source_texts import SourceTexts

_SOON = 0.5
"""Seconds."""
Found = Mapping[str, Sequence[Finding]]


@dataclass(frozen=True)
class Snapshot:
    """What is open at one moment, and the folders of the workspace."""

    documents: tuple[Document, ...]
    folders: tuple[str, ...]


@dataclass(frozen=True)
class Judged:
    """What is to be shown of a snapshot, by path: findings, and what keeps a document from being read."""

    snapshot: Snapshot
    findings: Found
    unreadable: Mapping[str, Problem]
    failures: tuple[Problem, ...]
    """What could not be done elsewhere: rules that have failed, files that could not be followed."""


class Engine:
    """Checks snapshots, one after the other."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._memory = Memory()
        self._disk = Disk()
        self._settings = AllSettings(complain)
        self._sound: dict[str, tuple[Document, Sequence[Finding]]] = {}
        """By path, the last text of a document that could be read, and what was found in it."""
        self._elsewhere: dict[str, Sequence[Finding]] = {}
        """By path, what was found in files that are not open."""
        self._judged: set[str] = set()
        """Documents that were checked with all files that import them."""
        self._seconds = 0.0
        """How long that took the last time."""
        self.neighbours = Neighbours(self._disk, self._settings)

    def is_known_baseline(self, path: str) -> bool:
        """Whether a file holds known findings of some document."""
        return path in self._settings.baselines

    def is_quick(self, snapshot: Snapshot) -> bool:
        """Whether a whole check will be done before anybody waits for it, as far as the last one can tell."""
        return self._seconds < _SOON and all(one.path in self._judged for one in snapshot.documents)

    def check(self, snapshot: Snapshot, *, whole: bool) -> Judged:
        """Check all documents. Raises Superseded.

        Args:
            whole: with the files that import them. Without, what was found before is taken to be still there
                where the text is the same.
        """
        began = time.monotonic()
        documents = [
            one for one in snapshot.documents if not self.neighbours.is_excluded(one.path, snapshot.folders)
        ]
        unreadable = self._unreadable(documents)
        sound = [self._as_last_read(one) if one.path in unreadable else one for one in documents]
        texts = {one.path: one.raw for one in sound if one is not None}
        found: list[Finding] = []
        failures: list[Problem] = []
        for paths in self.neighbours.programs(texts, snapshot.folders, whole=whole):
            checked = check_program(sorted(paths), Overlaid(texts, self._disk), self._memory, 1, None)
            found += checked.findings
            failures += checked.problems
        shown = self._shown(found, texts, whole=whole)
        if not whole:
            self._add_earlier(shown, [one for one in sound if one is not None])
        self._remember(documents, unreadable, shown)
        if whole:
            self._judged = {one.path for one in snapshot.documents}
            self._seconds = time.monotonic() - began
        return Judged(snapshot, self._as_now(documents, unreadable, shown), unreadable, tuple(failures))

    def _as_last_read(self, document: Document) -> Document | None:
        known = self._sound.get(document.path)
        return known[0] if known is not None else None

    def _unreadable(self, documents: Iterable[Document]) -> dict[str, Problem]:
        """What is wrong with documents that cannot be read. All others are read by now, if they have to be."""
        found = {}
        for one in documents:
            if not sieve.speaks_of_training(one.raw) and parses(one.raw):
                continue
            key = reading.key(one.raw, self._memory)
            if self._memory.load_imports(key) is None:
                module = load(one.path, one.raw)
                if isinstance(module, Problem):
                    found[one.path] = module
                else:
                    reading.keep(reading.Read(one.path, key, ()), module, self._memory)
        return found

    def _shown(
        self, found: Iterable[Finding], texts: Mapping[str, bytes], *, whole: bool
    ) -> dict[str, list[Finding]]:
        """Findings that have to do with a document and are wanted where they are, by path."""
        source = SourceTexts(texts)
        wanted = [one for one in found if self._settings.of(one.at.path).target.concerns(one)]
        wanted.sort(key=lambda one: one.at)
        told = silence(wanted, texts if whole else (), source.raw, names())
        by_settings: dict[int, tuple[Settings, list[Finding]]] = {}
        for one in told:
            settings = self._settings.of(one.at.path)
            by_settings.setdefault(id(settings), (settings, []))[1].append(one)
        shown: dict[str, list[Finding]] = {path: [] for path in texts}
        for settings, some in by_settings.values():
            for one in _new(some, settings, source, texts):
                if one.at.path in texts or any(reason.at.path in texts for reason in one.because):
                    shown.setdefault(one.at.path, []).append(one)
        return shown

    def _add_earlier(self, shown: dict[str, list[Finding]], documents: Iterable[Document]) -> None:
        """What a whole check has found and this one has not looked for, unless the text has changed there."""
        for one in documents:
            before, findings = self._sound.get(one.path, (one, ()))
            new = {(found.code, found.at) for found in shown[one.path]}
            earlier = moved(findings, before.lines, one.lines)
            shown[one.path] += [found for found in earlier if (found.code, found.at) not in new]
        for path, there in self._elsewhere.items():
            shown.setdefault(path, list(there))

    def _remember(
        self, documents: Iterable[Document], unreadable: Mapping[str, Problem], shown: Found
    ) -> None:
        known = self._sound
        opened = {one.path for one in documents}
        self._elsewhere = {path: found for path, found in shown.items() if path not in opened}
        self._sound = {
            one.path: (one, shown[one.path]) if one.path not in unreadable else known[one.path]
            for one in documents
            if one.path not in unreadable or one.path in known
        }

    def _as_now(
        self, documents: Iterable[Document], unreadable: Mapping[str, Problem], shown: Found
    ) -> dict[str, Sequence[Finding]]:
        """With the findings in documents that cannot be read at their places in what is there now."""
        result = dict(shown)
        for one in documents:
            if one.path in unreadable and one.path in self._sound:
                before, findings = self._sound[one.path]
                result[one.path] = moved(findings, before.lines, one.lines)
        return result


def _new(
    found: Sequence[Finding], settings: Settings, source: SourceTexts, texts: Mapping[str, bytes]
) -> Iterable[Finding]:
    """What is wanted by settings, not silenced by a comment and not known from a baseline."""
    kept = {id(one) for one in selected(found, settings.selection) if not one.suppressed}
    new = [one for one in found if not one.suppressed]
    if settings.baseline is not None:
        new = settings.baseline.matched(new, source.lines, texts).new
    return [one for one in new if id(one) in kept]
