"""Open documents to what is wrong with them. Everything is kept in memory that the next keystroke leaves true."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trainlint.catalogue import known
from trainlint.check.ignore import silence
from trainlint.check.select import selected
from trainlint.errors import BadRule
from trainlint.finding import Finding, Problem
from trainlint.program.incremental.groups import check_program
from trainlint.program.source import prefilter, reading
from trainlint.program.source.loading import load
from trainlint.project.soundness import parses
from trainlint.project.source_texts import SourceTexts
from trainlint.rules import left_out
from trainlint.server.documents import Document
from trainlint.server.earlier import Earlier
from trainlint.server.memory import Disk, Memory, Overlaid
from trainlint.server.neighbours import Neighbours
from trainlint.server.notebooks import OpenNotebook
from trainlint.server.project_rules import ProjectRules
from trainlint.server.settings import AllSettings, Settings

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
    sound: Mapping[str, Document]
    """The documents that places count through: where one cannot be read now, as it last could be."""
    findings: Found
    unreadable: Mapping[str, Sequence[Problem]]
    failures: tuple[Problem, ...]
    """What could not be done elsewhere: rules that have failed, files that could not be followed."""


class Engine:
    """Checks snapshots, one after the other."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._memory = Memory()
        self._disk = Disk()
        self._settings = AllSettings(complain)
        self._sound: dict[str, Document] = {}
        """By path, the last text of a document that could be read."""
        self._earlier = Earlier()
        self._judged: set[str] = set()
        """Documents that were checked with all files that import them."""
        self._rules = ProjectRules(self._settings)
        self.neighbours = Neighbours(self._disk, self._settings)

    def is_known_baseline(self, path: str) -> bool:
        """Whether a file holds known findings of some document."""
        return path in self._settings.baselines

    def has_judged(self, snapshot: Snapshot) -> bool:
        """Whether an earlier text of all that is open has had a whole check."""
        return all(one.path in self._judged for one in snapshot.documents)

    def check(self, snapshot: Snapshot, *, whole: bool) -> Judged:
        """Check all documents. Raises Superseded.

        Args:
            whole: with the files that import them, and all that any of these imports. Without, what was found
                before is taken to be still there where the text is the same.
        """
        if self._rules.look_again(one.path for one in snapshot.documents):
            self._memory = Memory()
        try:
            return self._judged_by_rules(snapshot, whole=whole)
        except BadRule as error:
            self._rules.give_up(error)
            self._memory = Memory()
            return self._judged_by_rules(snapshot, whole=whole)

    def _judged_by_rules(self, snapshot: Snapshot, *, whole: bool) -> Judged:
        documents = [
            one for one in snapshot.documents if not self.neighbours.is_excluded(one.path, snapshot.folders)
        ]
        unreadable = self._unreadable(documents)
        sound = {
            one.path: read
            for one in documents
            if (read := self._as_last_read(one) if one.path in unreadable else one) is not None
        }
        texts = {path: one.source for path, one in sound.items()}
        found: list[Finding] = []
        failures: list[Problem] = []
        for paths in self.neighbours.programs(texts, snapshot.folders, whole=whole):
            contents = Overlaid(texts, self._disk, within=None if whole else paths)
            checked = check_program(sorted(paths), contents, self._memory, 1, None)
            found += checked.findings
            failures += checked.problems
        if whole:
            self._earlier.whole(found, sound)
            self._judged = {one.path for one in snapshot.documents}
        else:
            found = self._earlier.added(found, sound)
        shown = self._shown(found, sound, whole=whole)
        self._sound = sound
        return Judged(snapshot, sound, shown, unreadable, tuple(failures))

    def _as_last_read(self, document: Document) -> Document | None:
        known = self._sound.get(document.path)
        if isinstance(document, OpenNotebook):
            return document.mended(known if isinstance(known, OpenNotebook) else None)
        return known

    def _unreadable(self, documents: Iterable[Document]) -> dict[str, Sequence[Problem]]:
        """What is wrong with documents that cannot be read. All others are read by now, if they have to be."""
        found: dict[str, Sequence[Problem]] = {}
        for one in documents:
            problems = one.problems if isinstance(one, OpenNotebook) else self._problems(one)
            if problems:
                found[one.path] = problems
        return found

    def _problems(self, document: Document) -> tuple[Problem, ...]:
        if not prefilter.speaks_of_training(document.source) and parses(document.source):
            return ()
        key = reading.key(document.source, self._memory)
        if self._memory.load_imports(key) is None:
            module = load(document.path, document.source)
            if isinstance(module, Problem):
                return (module,)
            reading.keep(reading.Read(document.path, key, ()), module, self._memory)
        return ()

    def _shown(
        self, found: Iterable[Finding], sound: Mapping[str, Document], *, whole: bool
    ) -> dict[str, list[Finding]]:
        """Findings that have to do with a document and are wanted where they are, by path."""
        source = SourceTexts({path: one.raw for path, one in sound.items()})
        wanted = [
            one
            for one in found
            if self._settings.of(one.at.path).target.concerns(one) and self._rules.is_of_here(one)
        ]
        wanted.sort(key=lambda one: one.at)
        told = silence(wanted, sound if whole else (), source.source, known(), left_out())
        told = self._earlier.with_idle_comments(told, whole=whole)
        by_settings: dict[int, tuple[Settings, list[Finding]]] = {}
        for one in told:
            settings = self._settings.of(one.at.path)
            by_settings.setdefault(id(settings), (settings, []))[1].append(one)
        shown: dict[str, list[Finding]] = {path: [] for path in sound}
        for settings, some in by_settings.values():
            for one in _new(some, settings, source, sound):
                if one.at.path in sound or any(reason.at.path in sound for reason in one.because):
                    shown.setdefault(one.at.path, []).append(one)
        return shown


def _new(
    found: Sequence[Finding], settings: Settings, source: SourceTexts, paths: Container[str]
) -> Iterable[Finding]:
    """What is wanted by settings, not silenced by a comment and not known from a baseline."""
    kept = {id(one) for one in selected(found, settings.selection) if not one.suppressed}
    new = [one for one in found if not one.suppressed]
    if settings.baseline is not None:
        new = settings.baseline.matched(new, source.lines, paths).new
    return [one for one in new if id(one) in kept]
