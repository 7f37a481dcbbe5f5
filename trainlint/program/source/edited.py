"""What an edit has left of a file: where its code has moved to, and the functions whose bodies are new.

Two trees of one file are gone through side by side, in pieces: the body of a function is a piece, and so is every
other statement of the file or of a class. A piece is the same if all that it holds is, and stands in the same columns
of lines that have moved together.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from trainlint.program.source import syntax as s
from trainlint.program.source.relevance import needs_instance
from trainlint.program.source.returned import returned
from trainlint.program.source.room import deep


@dataclass(frozen=True)
class Edited:
    """A file in which nothing has changed but the bodies of functions, and where things stand."""

    offsets: dict[int, int]
    """By the offset at which a function began that is what it was, where it begins now."""
    changed: frozenset[int]
    """Where functions began whose bodies are new."""
    begun: dict[int, int]
    """By the offset at which a function of the file or of a class began, where it begins now, changed or not."""
    firsts: tuple[int, ...]
    """The first line of each piece, as it was."""
    moves: tuple[int | None, ...]
    """By how many lines each piece has moved; None for those that are new."""

    def moved(self, first: int, last: int) -> int | None:
        """By how many lines something has moved that stood on these lines; None if that cannot be said."""
        begin, end = bisect_right(self.firsts, first) - 1, bisect_right(self.firsts, last) - 1
        moves = set(self.moves[max(begin, 0) : end + 1])
        return moves.pop() if begin >= 0 and len(moves) == 1 else None

    @property
    def stays(self) -> bool:
        """Whether all that is what it was is also where it was."""
        return set(self.moves) <= {0, None}


def edited(old: s.Module, new: s.Module) -> Edited | None:
    """What an edit has left of a file; None if it has changed more than the bodies of functions, or what one returns."""
    comparison = _Comparison(old.lines, new.lines)
    with suppress(RecursionError), deep():
        return comparison.result() if comparison.statements(old.body, new.body) else None
    return None


class _Piece:
    """The part of a file that is being compared."""

    def __init__(self) -> None:
        self.move: int | None = None
        self.first: int | None = None
        self.offsets: dict[int, int] = {}


class _Comparison:
    def __init__(self, old: Sequence[int], new: Sequence[int]) -> None:
        self._old = old
        self._new = new
        self._offsets: dict[int, int] = {}
        self._changed: set[int] = set()
        self._begun: dict[int, int] = {}
        self._moves: dict[int, int | None] = {}
        self._is_sound = True

    def result(self) -> Edited | None:
        firsts = sorted(self._moves)
        moves = tuple(self._moves[first] for first in firsts)
        if not self._is_sound:
            return None
        return Edited(self._offsets, frozenset(self._changed), self._begun, tuple(firsts), moves)

    def statements(self, old: s.Block, new: s.Block) -> bool:
        """Whether statements of a file or class are the same, but for bodies of functions."""
        return len(old) == len(new) and all(map(self._statement, old, new))

    def _statement(self, old: s.Statement, new: s.Statement) -> bool:
        if isinstance(old, s.Function) and isinstance(new, s.Function):
            return self._function(old, new)
        if isinstance(old, s.Class) and isinstance(new, s.Class):
            return (
                self._piece(("name", "bases", "decorators", "at"), old, new)
                and self.statements(old.body, new.body)
                and needs_instance(old) == needs_instance(new)
            )
        return self._piece(_fields(type(old)), old, new)

    def _function(self, old: s.Function, new: s.Function) -> bool:
        head = ("name", "parameters", "decorators", "at", "returns")
        if not self._piece(head, old, new):
            return False
        begin = old.at[0]
        self._begun[begin] = new.at[0]
        if self._piece(("is_generator", "names", "own", "body"), old, new):
            self._offsets[begin] = new.at[0]
        else:
            self._changed.add(begin)
            for first in map(self._first, old.body):
                self._note(first, None)
        return returned(old) == returned(new)

    def _piece(self, names: Sequence[str], old: Any, new: Any) -> bool:
        piece = _Piece()
        if type(old) is not type(new):
            return False
        if not self._alike(names, old, new, piece):
            return False
        self._offsets |= piece.offsets
        if piece.first is not None:
            self._note(piece.first, piece.move)
        return True

    def _note(self, first: int, move: int | None) -> None:
        """Two pieces on one line have to move together."""
        if self._moves.setdefault(first, move) != move:
            self._is_sound = False

    def _first(self, node: Any) -> int:
        """The line on which something begins, as it was."""
        piece = _Piece()
        _Comparison(self._old, self._old)._same(node, node, piece)
        return piece.first or 0

    def _same(self, old: Any, new: Any, piece: _Piece) -> bool:
        if type(old) is not type(new):
            return False
        if isinstance(old, tuple):
            return len(old) == len(new) and all(
                self._same(one, other, piece) for one, other in zip(old, new, strict=True)
            )
        names = _fields(type(old))
        if not names:
            return bool(old == new) and (not isinstance(old, (float, complex)) or repr(old) == repr(new))
        if isinstance(old, s.Function):
            piece.offsets[old.at[0]] = new.at[0]
        return self._alike(names, old, new, piece)

    def _alike(self, names: Sequence[str], old: Any, new: Any, piece: _Piece) -> bool:
        """Whether these fields of two nodes are the same."""
        for name in names:
            one, other = getattr(old, name), getattr(new, name)
            if not (self._moved(one, other, piece) if name == "at" else self._same(one, other, piece)):
                return False
        return True

    def _moved(self, old: s.Span, new: s.Span, piece: _Piece) -> bool:
        for one, other in zip(old, new, strict=True):
            before, after = bisect_right(self._old, one) - 1, bisect_right(self._new, other) - 1
            if one - self._old[before] != other - self._new[after]:
                return False
            if piece.move is None:
                piece.move = after - before
            elif piece.move != after - before:
                return False
            piece.first = before + 1 if piece.first is None else min(piece.first, before + 1)
        return True


_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(one.name for one in fields(kind))
    for kind in vars(s).values()
    if isinstance(kind, type) and is_dataclass(kind)
}


def _fields(kind: type) -> tuple[str, ...]:
    return _FIELDS.get(kind, ())
