"""What is known of entry points, told of files as they stand after an edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trainlint.finding import Because, Finding, Place
from trainlint.program.evaluate.uses import Code
from trainlint.program.incremental.outcome import Defined, DefinedClass, DefinedFunction, Method, Outcome
from trainlint.program.source.edited import Edited
from trainlint.program.source.outline import Outline


class _Gone(Exception):
    """What something follows from is not there any more, or nobody can say where."""


class Moving:
    """Moves what is known from where it stood to where it stands.

    Args:
        edits: what edits have left of files; all others are what they were, or of no interest.
        outlines: all files as they are now.
    """

    def __init__(self, edits: Mapping[str, Edited], outlines: Mapping[str, Outline]) -> None:
        self._edits = edits
        self._names = {(path, one.at): one.names for path in edits for one in outlines[path].functions}
        self._shifted = {path for path, edit in edits.items() if not edit.stays}

    def outcome(self, one: Outcome) -> Outcome | None:
        """What an entry point has led to; None if that follows from code that has changed."""
        if not self._edits:
            return one
        try:
            code = frozenset(map(self._code, one.code))
            reached = frozenset(map(self._code, one.reached))
            findings = tuple(self._finding(found, one.uses) for found in one.findings)
        except _Gone:
            return None
        return replace(one, code=code, reached=reached, findings=findings)

    def defined(self, one: Defined) -> Defined | None:
        """What the body of a file has defined; None if some of it is gone."""
        try:
            return Defined(tuple(map(self._class, one.classes)), tuple(map(self._function, one.functions)))
        except _Gone:
            return None

    def _code(self, code: Code) -> Code:
        """A function that is what it was."""
        edit = self._edits.get(code[0])
        if edit is None:
            return code
        if code[1] not in edit.offsets:
            raise _Gone
        return code[0], edit.offsets[code[1]]

    def _finding(self, one: Finding, uses: frozenset[str]) -> Finding:
        if any(
            isinstance(clue, (list, tuple)) for clue in one.clues.values()
        ) and not self._shifted.isdisjoint(uses):
            raise _Gone  # there may be places among them
        because = tuple(Because(self._place(at), message) for at, message in one.because)
        return replace(one, at=self._place(one.at), because=because)

    def _place(self, place: Place) -> Place:
        edit = self._edits.get(place.path)
        if edit is None:
            return place
        move = edit.moved(place.line, place.end_line)
        if move is None:
            raise _Gone
        return place._replace(line=place.line + move, end_line=place.end_line + move)

    def _class(self, one: DefinedClass) -> DefinedClass:
        if one.init is None:
            return one
        return replace(one, init=Method(*self._definition(one.init.code, one.init.names)))

    def _function(self, one: DefinedFunction) -> DefinedFunction:
        code, names = self._definition(one.code, one.names)
        return replace(one, code=code, names=names)

    def _definition(self, code: Code, names: frozenset[str]) -> tuple[Code, frozenset[str]]:
        """A function that may have another body, and every name in it."""
        edit = self._edits.get(code[0])
        if edit is None:
            return code, names
        if code[1] in edit.offsets:
            return self._code(code), names
        now = code[0], edit.begun.get(code[1], -1)
        if now not in self._names:
            raise _Gone
        return now, self._names[now]
