"""What tokenizers made of the texts that they were given."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass
class Tokenized:
    """The first texts that a tokenizer was given at one place, counted.

    Args:
        tokenizer: its class.
        texts: how many were looked at.
        tokens: what they became, without what was added at their ends.
        unknown: how many of these stand for whatever the vocabulary lacks.
        letters: letters and digits of the texts.
        unknown_letters: how many of these became unknown tokens.
        lost: how many of these became no token at all, although the tokenizer does not drop them on purpose.
        example: something that became unknown or was lost.
        doubled: texts that already had at one end what was added there.
        doubled_where: `start` or `end`.
        foreign: texts that end in what other tokenizers take for the end of a text.
        foreign_end: which that is.
        end: what it is for this tokenizer.
        sequences: texts whose length was looked at.
        cut: how many were cut because they were too long.
        limit: tokens that were kept of such a text.
        kept: tokens of all these texts that were kept.
        dropped: tokens that were cut off.
    """

    at: Place
    tokenizer: str
    texts: int = 0
    tokens: int = 0
    unknown: int = 0
    unknown_token: str = ""
    letters: int = 0
    unknown_letters: int = 0
    lost: int = 0
    example: str = ""
    doubled: int = 0
    doubled_where: str = ""
    doubled_token: str = ""
    foreign: int = 0
    foreign_end: str = ""
    end: str = ""
    sequences: int = 0
    cut: int = 0
    limit: int = 0
    kept: int = 0
    dropped: int = 0
