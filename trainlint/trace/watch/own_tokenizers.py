"""Tokenizers that the program writes itself: what their `encode` makes of a text, and their `decode` of that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainlint.facts.seen.texts import Tokenized

_UNKNOWN = frozenset("unk unknown oov".split())
"""What an unknown token is called, without what stands around it."""
_AROUND = "<>[]{}|_ "
_MOST_ATTRIBUTES = 100
_MOST_TOKENS = 2000
"""Tokens of one text that are looked at: its first."""
_LETTERS_TO_A_TOKEN = 8


def count(about: Tokenized, tokenizer: Any, text: str, encoded: Any) -> None:
    """Add one text to what is known of a tokenizer; nothing if it did not become whole numbers."""
    encoded = _beginning(encoded)
    ids = _whole_numbers(encoded)
    letters = _letters(text[: _MOST_TOKENS * _LETTERS_TO_A_TOKEN])
    if ids is None or not letters:
        return
    name, number = _unknown(tokenizer)
    unknown = ids.count(number) if number is not None else 0
    about.texts += 1
    about.tokens += len(ids)
    about.unknown += unknown
    lost = 0
    if unknown:
        about.unknown_token = name
        about.letters += len(letters)
        about.unknown_letters += len(letters) * unknown // len(ids)
    else:
        seen, lost = _lost(letters, _decoded(tokenizer, encoded)) if ids else (len(letters), len(letters))
        about.letters += seen
        about.lost += lost
    if (unknown or lost) and not about.example:
        about.example = " ".join(text.split())[:40]


def _beginning(encoded: Any) -> Any:
    try:
        return encoded[:_MOST_TOKENS] if len(encoded) > _MOST_TOKENS else encoded
    except TypeError:  # it has no length, or no order
        return encoded


def _whole_numbers(encoded: Any) -> list[int] | None:
    """The tokens of one text."""
    if hasattr(encoded, "tolist"):
        encoded = encoded.tolist()
    if not isinstance(encoded, Sequence) or isinstance(encoded, (str, bytes)):
        return None
    return list(encoded) if all(type(one) is int for one in encoded) else None


def _unknown(tokenizer: Any) -> tuple[str, int | None]:
    """The token for what the vocabulary lacks, if a dict of the tokenizer has one."""
    for held in list(getattr(tokenizer, "__dict__", {}).values())[:_MOST_ATTRIBUTES]:
        if isinstance(held, Mapping):
            for token, number in held.items():
                if not isinstance(token, str) or type(number) is not int:
                    break
                if token.lower().strip(_AROUND) in _UNKNOWN:
                    return token, number
    return "", None


def _decoded(tokenizer: Any, encoded: Any) -> list[str] | None:
    """The letters that its own `decode` gives back; None where it has none, or that fails."""
    decode = getattr(tokenizer, "decode", None)
    if not callable(decode):
        return None
    try:
        text = decode(encoded)
    except Exception:
        return None
    if isinstance(text, (list, tuple)) and all(isinstance(one, str) for one in text):
        text = "".join(text)
    return _letters(text) if isinstance(text, str) else None


def _lost(letters: list[str], decoded: list[str] | None) -> tuple[int, int]:
    """How many letters there are up to where the text was cut, and how many of them did not come back. Where other letters
    came back, the tokenizer does something else on purpose."""
    if decoded is None:
        return len(letters), 0
    seen = found = 0
    for number, letter in enumerate(letters):
        if found < len(decoded) and letter == decoded[found]:
            found += 1
            seen = number + 1
    return (seen, seen - found) if found == len(decoded) else (len(letters), 0)


def _letters(text: Iterable[str]) -> list[str]:
    return [one for each in text for one in each.casefold() if one.isalnum()]
