"""A bug that is put into a program."""

from __future__ import annotations

from dataclasses import dataclass

from edits import Edit


@dataclass(frozen=True, init=False)
class Bug:
    """A mistake, the program that gets it, the rules that name it, and how it gets there.

    The rules are those whose message would lead a reader to this very mistake.
    """

    kind: str
    program: str
    codes: frozenset[str]
    edits: tuple[Edit, ...]

    def __init__(self, kind: str, program: str, codes: str, *edits: tuple[str, str, str]) -> None:
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "program", program)
        object.__setattr__(self, "codes", frozenset(codes.split()))
        object.__setattr__(self, "edits", tuple(Edit(*one) for one in edits))
