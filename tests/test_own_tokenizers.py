"""Tokenizers that a program writes itself: what is lost in their texts, and what they do on purpose."""

from __future__ import annotations

import pytest

from trainlint.facts.seen.texts import Tokenized
from trainlint.finding import Place
from trainlint.trace.watch.own_tokenizers import count

TEXT = "The quick brown fox jumps over the lazy dog, and 12 more follow it."


class Characters:
    def __init__(self, letters: str, unknown: bool = False) -> None:
        self.stoi = {"<unk>": 0} if unknown else {}
        self.stoi.update({one: number + 1 for number, one in enumerate(letters)})
        self.itos = {number: one for one, number in self.stoi.items()}

    def encode(self, text: str) -> list[int]:
        if 0 in self.itos:
            return [self.stoi.get(one, 0) for one in text]
        return [self.stoi[one] for one in text if one in self.stoi]

    def decode(self, ids: list[int]) -> str:
        return "".join(self.itos[one] for one in ids)


class Cuts(Characters):
    def encode(self, text: str) -> list[int]:
        return super().encode(text)[:10]


class Lowers(Characters):
    def encode(self, text: str) -> list[int]:
        return super().encode(text.lower())


class Reverses(Characters):
    def encode(self, text: str) -> list[int]:
        return super().encode(text)[::-1]


ALL = "".join(sorted({*TEXT}))
SMALL = "abcdefghij ,."


@pytest.mark.parametrize(
    ("tokenizer", "lost", "unknown"),
    [
        pytest.param(Characters(ALL), False, False, id="whole"),
        pytest.param(Characters(SMALL), True, False, id="drops"),
        pytest.param(Characters(SMALL, unknown=True), False, True, id="unknown"),
        pytest.param(Characters(ALL, unknown=True), False, False, id="whole with unknown"),
        pytest.param(Cuts(ALL), False, False, id="cuts"),
        pytest.param(Cuts(SMALL), True, False, id="drops and cuts"),
        pytest.param(Lowers(ALL.lower()), False, False, id="lowers"),
        pytest.param(Reverses(SMALL), False, False, id="does something else"),
    ],
)
def test_what_is_lost(tokenizer: Characters, lost: bool, unknown: bool) -> None:
    about = Tokenized(Place("page.py", 1, 1, 1, 2), "Characters")
    count(about, tokenizer, TEXT, tokenizer.encode(TEXT))
    assert about.texts == 1
    assert bool(about.lost) is lost
    assert bool(about.unknown) is unknown


@pytest.mark.parametrize(("letters", "lost"), [(ALL, False), (SMALL, True)])
def test_of_a_long_text_the_beginning_is_looked_at(letters: str, lost: bool) -> None:
    about = Tokenized(Place("page.py", 1, 1, 1, 2), "Characters")
    tokenizer = Characters(letters)
    count(about, tokenizer, TEXT * 1000, tokenizer.encode(TEXT * 1000))
    assert about.tokens == 2000
    assert (about.lost > 0.1 * about.letters) is lost


@pytest.mark.parametrize("encoded", ["abc", 3, [0.5], {"input_ids": [1]}, [[1, 2]], None])
def test_what_is_no_tokenizer_is_left(encoded: object) -> None:
    about = Tokenized(Place("page.py", 1, 1, 1, 2), "Encoder")
    count(about, object(), TEXT, encoded)
    assert about.texts == 0
