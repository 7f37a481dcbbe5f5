"""Where in the text each leaf of a syntax tree stands.

libcst's own position provider costs more than its parse. A tree read in source order needs less: the
text is split once into the tokens that a tree's leaves can be, and a cursor moves forward over them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

_TOKEN = re.compile(
    r"""
    \#[^\n\r]*
  | [rRbBuUfFtT]{0,2} (?: '''(?:[^\\]|\\.)*?''' | \"\"\"(?:[^\\]|\\.)*?\"\"\"
                        | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" )
  | 0[xXoObB][0-9a-fA-F_]+ | (?: \d[\d_]*\.?[\d_]* | \.\d[\d_]* ) (?:[eE][+-]?\d[\d_]*)? [jJ]?
  | \w+
  | [()\[\]{}]
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


class Tokens:
    """A cursor over the names, literals and brackets of a text, comments left out."""

    def __init__(self, text: str) -> None:
        self._texts: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._closing: dict[int, int] = {}
        self._next = 0
        self._held = 0
        open_brackets: list[int] = []
        for match in _TOKEN.finditer(text):
            token = match.group()
            if token[0] == "#":
                continue
            if token in _OPENING:
                open_brackets.append(len(self._texts))
            elif token in _CLOSING and open_brackets:
                self._closing[open_brackets.pop()] = len(self._texts)
            self._texts.append(token)
            self._starts.append(match.start())
            self._ends.append(match.end())

    def take(self, token: str) -> tuple[int, int]:
        """The span of the next `token`; the cursor moves behind it."""
        index = self._find(token)
        if index < 0:
            return self.here()
        self._next = index + 1
        return self._starts[index], self._ends[index]

    def take_string(self, opening: str) -> tuple[int, int]:
        """The span of the next string that begins with `opening`: a prefix and quotes."""
        for index in range(self._next, len(self._texts)) if not self._held else ():
            if self._texts[index].startswith(opening):
                self._next = index + 1
                break
        return self.here()

    def enter(self, bracket: str) -> int:
        """Move behind the next opening `bracket`; returns what `leave` and `start_of` take."""
        index = self._find(bracket)
        if index >= 0:
            self._next = index + 1
        return index

    def close(self) -> None:
        """Move behind the closing brackets that come next."""
        while not self._held and self._next < len(self._texts) and self._texts[self._next] in _CLOSING:
            self._next += 1

    def leave(self, opened: int) -> int:
        """Move behind the bracket that closes the one `opened`; the offset after it."""
        closing = self._closing.get(opened)
        if closing is None or self._held:
            return self.here()[1]
        self._next = closing + 1
        return self._ends[closing]

    def start_of(self, opened: int) -> int:
        """The offset of the bracket `opened`."""
        return self._starts[opened] if opened >= 0 else self.here()[0]

    def here(self) -> tuple[int, int]:
        """The span of the token before the cursor."""
        index = self._next - 1
        if index < 0:
            return 0, 0
        return self._starts[index], self._ends[index]

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the cursor where it is: what is read stands inside one token, an f-string."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    def _find(self, token: str) -> int:
        if self._held:
            return -1
        try:
            return self._texts.index(token, self._next)
        except ValueError:
            return -1
