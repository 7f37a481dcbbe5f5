from collections.abc import Iterator

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.texts import Tokenized
from trainlint.finding import Finding
from trainlint.rule import rule

_UNKNOWN = 0.4
"""Share of tokens, and of letters, that must be unknown: small word vocabularies omit some on purpose."""
_LOST = 0.1
"""Share of letters that must have become no token."""
_FEW = 16
"""Letters below which a share means nothing."""


@rule(Recorded, level="warning", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    for seen in recorded.facts(Tokenized):
        if seen.unknown > _UNKNOWN * seen.tokens and seen.unknown_letters >= max(
            _FEW, _UNKNOWN * seen.letters
        ):
            yield Finding(
                seen.at,
                f"{seen.unknown / seen.tokens:.0%} of the tokens of these texts are `{seen.unknown_token}`, "
                f"such as for `{seen.example}`: the model cannot tell them apart. Use a tokenizer whose "
                "vocabulary was built for such texts, with the same case and normalisation.",
                evidence={
                    "texts": seen.texts,
                    "tokens": seen.tokens,
                    "unknown": seen.unknown,
                    "letters": seen.letters,
                    "letters in unknown tokens": seen.unknown_letters,
                },
            )
        if seen.lost >= max(_FEW, _LOST * seen.letters):
            yield Finding(
                seen.at,
                f"{seen.lost / seen.letters:.0%} of the letters of these texts became no token at all, such "
                f"as `{seen.example}`: they are not in the vocabulary, and there is no unknown token. Give "
                "the tokenizer's model an `unk_token`, or build a vocabulary that covers these texts.",
                evidence={"texts": seen.texts, "letters": seen.letters, "letters lost": seen.lost},
            )
        if seen.doubled and 2 * seen.doubled >= seen.texts:
            yield Finding(
                seen.at,
                f"`{seen.doubled_token}` appears twice at the {seen.doubled_where} of "
                f"{_of_texts(seen.doubled, seen)}: the text already contains it, as after a chat template, "
                "and the tokenizer adds it again. Encode such texts with `add_special_tokens=False`.",
                evidence={"texts": seen.texts, "of them doubled": seen.doubled},
            )
        if seen.foreign > 1 and 2 * seen.foreign >= seen.texts:
            yield Finding(
                seen.at,
                f"{_of_texts(seen.foreign, seen).capitalize()} end in `{seen.foreign_end}`, which is not a "
                f"token of this tokenizer and is split into pieces; its end token is `{seen.end}`. Write "
                "`tokenizer.eos_token` instead, or add the token.",
                evidence={"texts": seen.texts, "of them": seen.foreign},
            )


def _of_texts(some: int, seen: Tokenized) -> str:
    return f"{some} of {seen.texts} texts" if seen.texts > 1 else "the text"
