"""Help for a mistyped word."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence that names the known word nearest to `word`, or nothing."""
    spelt = {candidate.lower(): candidate for candidate in known}
    near = get_close_matches(word.lower(), spelt, n=1)
    return f"; did you mean `{spelt[near[0]]}`?" if near else ""
