"""What is known of the entry points of files that belong together, and how long that stays true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from trainlint.program.incremental.moving import Moving
from trainlint.program.incremental.outcome import Defined, Entry, Outcome
from trainlint.program.source.edited import Edited
from trainlint.program.source.outline import Outline


@dataclass
class Ledger:
    """What evaluating entry points has led to, and what the bodies of files have defined."""

    outcomes: dict[Entry, Outcome] = field(default_factory=dict)
    defined: dict[str, Defined] = field(default_factory=dict)

    def bodies(self) -> Iterator[tuple[str, Outcome]]:
        """What the bodies of files have led to."""
        return ((path, one) for (kind, path, _), one in self.outcomes.items() if kind == "program")

    def without_bodies(self, refilled: Set[str]) -> Ledger:
        """The same, where the bodies of all files are to be evaluated: dicts are as full then as they ever are.

        Args:
            refilled: dicts that do not hold what they held.
        """
        return Ledger(
            {
                entry: one
                for entry, one in self.outcomes.items()
                if entry[0] != "program" and refilled.isdisjoint(one.tables)
            }
        )

    def filled_by(self, paths: Set[str]) -> set[str]:
        """Dicts that the bodies of these files have filled for others."""
        return {filled for path, one in self.bodies() if path in paths for filled in one.fills}


@dataclass(frozen=True)
class State:
    """The files of a group at one time."""

    contents: Mapping[str, str]
    """What each file holds, and what its imports mean: a name for that."""
    names: Mapping[str, str]
    """What a star import of it binds: a name for that."""
    frameworks: tuple[str, ...]
    """Folders whose code is followed only from inside."""
    reads: frozenset[str]
    """Every attribute that any of them reads."""


@dataclass(frozen=True)
class Account:
    """A ledger, with the files as they were when it was made."""

    ledger: Ledger
    state: State
    outlines: Mapping[str, Outline]

    def holding(self, now: State, outlines: Mapping[str, Outline], edits: Mapping[str, Edited]) -> Ledger:
        """What is still true: what follows from code alone that is what it was. It is told as it now stands.

        Args:
            edits: of the files that are not what they were, those in which only the bodies of functions have changed.
        """
        if now.frameworks != self.state.frameworks or now.contents.keys() != self.state.contents.keys():
            return Ledger()
        different = now.reads ^ self.state.reads
        moving = Moving(edits, outlines)
        outcomes = {
            entry: moved
            for entry, one in self.ledger.outcomes.items()
            if different.isdisjoint(one.asked) and (moved := moving.outcome(one)) is not None
        }
        defined = {
            path: there
            for path, one in self.ledger.defined.items()
            if ("program", path, 0) in outcomes and (there := moving.defined(one)) is not None
        }
        changed = {
            path
            for path in now.contents
            if path not in defined or (path not in edits and now.contents[path] != self.state.contents[path])
        }
        renamed = {path for path in now.names if now.names[path] != self.state.names[path]}
        stale = self._stale(changed, renamed)
        emptied = self.ledger.filled_by(stale)
        kept = {
            entry: one
            for entry, one in outcomes.items()
            if stale.isdisjoint(one.uses) and renamed.isdisjoint(one.lists) and emptied.isdisjoint(one.tables)
        }
        known = Ledger(kept, {path: one for path, one in defined.items() if path not in stale})
        filled = self.ledger.filled_by(now.contents.keys())
        sees_dicts = any(
            not filled.isdisjoint(one.tables)
            for entry, one in self.ledger.outcomes.items()
            if entry not in kept
        )
        return known.without_bodies(set()) if sees_dicts else known

    def _stale(self, changed: set[str], renamed: set[str]) -> set[str]:
        """Files whose bodies would leave something else than they did, or may."""
        users: dict[str, list[str]] = {}
        pending = list(changed)
        fillers: dict[str, list[str]] = {}
        for path, outcome in self.ledger.bodies():
            for filled in outcome.fills:
                fillers.setdefault(filled, []).append(path)
        for path, outcome in self.ledger.bodies():
            for used in (*outcome.uses, *(one for table in outcome.tables for one in fillers.get(table, ()))):
                users.setdefault(used, []).append(path)
            if not renamed.isdisjoint(outcome.lists):
                pending.append(path)
        stale: set[str] = set()
        while pending:
            path = pending.pop()
            if path not in stale:
                stale.add(path)
                pending.extend(users.get(path, ()))
        return stale
