"""The texts of a run: what becomes of the first that each tokenizer is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from trainlint.facts.seen.texts import Tokenized
from trainlint.finding import Place
from trainlint.trace.watch import own_tokenizers

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_MOST_TEXTS = 64
"""Texts that are read, of one tokenizer at one place."""
_LONGEST = 2000
"""Characters of a text beyond which it is not read."""
_MOST_COUNTED = 256
"""Texts whose length is looked at, of one tokenizer at one place."""
_OWN_NAMES = ("bos_token", "cls_token", "eos_token", "sep_token", "pad_token")
_ENDS = (
    "</s>",
    "<|endoftext|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|end|>",
    "<end_of_turn>",
    "<eos>",
    "[EOS]",
    "[SEP]",
)
"""How well-known tokenizers write the end of a text."""


class Texts:
    """Follows every tokenizer of a run."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._known: dict[tuple[Place, str], Tokenized] = {}
        self._latest: Any = None
        """The tokenizer that was used last."""
        self._outer: Any = None
        """The tokenizer of transformers' whose call is running, around that of a library below it."""
        self._splits = False
        """Whether that call keeps what does not fit, as further sequences."""

    @contextmanager
    def inside(self, tokenizer: Any, splits: bool) -> Iterator[bool]:
        """While a tokenizer of transformers' is running. Gives whether none was before."""
        if self._outer is not None:
            yield False
            return
        self._outer, self._splits = tokenizer, splits
        try:
            yield True
        finally:
            self._outer, self._splits = None, False

    def encoded(
        self,
        tokenizer: Any,
        texts: Sequence[Any],
        encodings: Sequence[Any],
        words: bool,
        frame: FrameType | None,
    ) -> None:
        """The library `tokenizers` has encoded texts; `words`: they came in words already."""
        outer = self._outer
        self._latest = outer if outer is not None else tokenizer
        about = self._about(self._latest, frame)
        if about is None:
            return
        tokens = outer.special_tokens_map if outer is not None else {}
        unknown = _unknown_token(tokenizer, tokens)
        number = tokenizer.token_to_id(unknown) if unknown is not None else None
        end, truncation = tokens.get("eos_token"), tokenizer.truncation
        for text, encoding in zip(texts, encodings, strict=False):
            if about.sequences == _MOST_COUNTED:
                return
            rest = encoding.overflowing if truncation is not None else ()
            about.sequences += 1
            about.kept += _own_tokens(encoding)
            if rest and truncation is not None and not self._splits and not truncation["stride"]:
                about.cut += 1
                about.limit = truncation["max_length"]
                about.dropped += sum(map(_own_tokens, rest))
            if about.texts == _MOST_TEXTS:
                continue
            about.texts += 1
            _count(about, encoding, unknown, number)
            if isinstance(text, str) and len(text) <= _LONGEST and not words and not rest:
                _read(about, text, encoding, tokenizer, number)
                _look_at_end(about, text, end, tokenizer)

    def encoded_slowly(self, tokenizer: Any, given: Any, result: Any, frame: FrameType | None) -> None:
        """A tokenizer of transformers' that is written in Python has encoded a text, or several."""
        self._latest = tokenizer
        about = self._about(tokenizer, frame)
        if about is None:
            return
        tokens = tokenizer.special_tokens_map
        unknown = tokens.get("unk_token")
        if unknown in [tokens.get(name) for name in _OWN_NAMES]:
            unknown = None
        number = tokenizer.convert_tokens_to_ids(unknown) if unknown is not None else None
        special = set(tokenizer.all_special_ids) - {number}
        for text, ids in _pairs(given, result):
            if about.texts == _MOST_TEXTS or not isinstance(text, str) or len(text) > _LONGEST:
                return
            own = [one for one in ids if one not in special]
            lost = own.count(number) if number is not None else 0
            letters = _letters(text)
            about.texts += 1
            about.tokens += len(own)
            about.letters += letters
            about.unknown += lost
            if not own:
                about.lost += letters
            if lost:
                about.unknown_token = str(unknown)
                about.unknown_letters += letters * lost // len(own)
            if lost or not own:
                _remember(about, text)

    def encoded_by_own(self, tokenizer: Any, text: str, encoded: Any, frame: FrameType | None) -> None:
        """A tokenizer of the program's own has encoded a text."""
        about = self._about(tokenizer, frame)
        if about is not None and about.texts < _MOST_TEXTS:
            own_tokenizers.count(about, tokenizer, text, encoded)

    def seen(self) -> list[Tokenized]:
        return list(self._known.values())

    def decoded(self, ids: Sequence[int]) -> str:
        """Tokens as text; what stands for no token, such as targets that are ignored, is left out. Empty where no tokenizer
        was used, or the one that was does not know them."""
        tokenizer, tokens = self._latest, [one for one in ids if one >= 0]
        if tokenizer is None or not tokens:
            return ""
        size = tokenizer.get_vocab_size() if hasattr(tokenizer, "get_vocab_size") else len(tokenizer)
        return str(tokenizer.decode(tokens, skip_special_tokens=False)) if max(tokens) < size else ""

    def _about(self, tokenizer: Any, frame: FrameType | None) -> Tokenized | None:
        place = self._recorder.at(frame)
        if place is None:
            return None
        kind = type(tokenizer).__name__
        return self._known.setdefault((place, kind), Tokenized(place, kind))


def _own_tokens(encoding: Any) -> int:
    """How many tokens stand for the text, and neither for its ends nor for padding."""
    return int(encoding.special_tokens_mask.count(0))


def _count(about: Tokenized, encoding: Any, unknown: str | None, number: int | None) -> None:
    ids, added, real = encoding.ids, encoding.special_tokens_mask, encoding.attention_mask
    kept = [(one, new) for one, new, counts in zip(ids, added, real, strict=True) if counts]
    own = [one for one, new in kept if not new]
    about.tokens += len(own)
    if number is not None and number in own:
        about.unknown += own.count(number)
        about.unknown_token = unknown or ""
    if len(kept) < 3:
        return
    for outer, inner, where in ((kept[0], kept[1], "start"), (kept[-1], kept[-2], "end")):
        if outer[0] == inner[0] and outer[1] and not inner[1]:
            about.doubled += 1
            about.doubled_where = where
            about.doubled_token = encoding.tokens[ids.index(outer[0])]
            return


def _read(about: Tokenized, text: str, encoding: Any, tokenizer: Any, number: int | None) -> None:
    """Which letters and digits no token stands for, and which only the unknown one does."""
    covered, vague = [False] * len(text), 0
    for one, added, (start, end) in zip(
        encoding.ids, encoding.special_tokens_mask, encoding.offsets, strict=True
    ):
        if added:
            continue
        covered[start:end] = [True] * (end - start)
        if one == number:
            vague += _letters(text[start:end])
            _remember(about, text[start:end])
    letters = _letters(text)
    about.letters += letters
    about.unknown_letters += vague
    uncovered = "".join(one if not there else " " for one, there in zip(text, covered, strict=False))
    if not _letters(uncovered):
        return
    lost = _letters(_wanted(text, tokenizer)) - (letters - _letters(uncovered))
    if lost > 0:
        about.lost += lost
        _remember(about, uncovered)


def _wanted(text: str, tokenizer: Any) -> str:
    """What is left of a text by what the tokenizer does on purpose before it looks into its vocabulary."""
    if tokenizer.normalizer is not None:
        text = tokenizer.normalizer.normalize_str(text)
    if tokenizer.pre_tokenizer is not None:
        pieces = tokenizer.pre_tokenizer.pre_tokenize_str(text)
        text = " ".join(text[start:end] for _, (start, end) in pieces)
    return text


def _look_at_end(about: Tokenized, text: str, end: str | None, tokenizer: Any) -> None:
    written = next((one for one in _ENDS if text.rstrip().endswith(one)), None)
    if end is not None and written is not None and tokenizer.token_to_id(written) is None:
        about.foreign += 1
        about.foreign_end, about.end = written, end


def _unknown_token(tokenizer: Any, tokens: Mapping[str, Any]) -> str | None:
    """The token for what a vocabulary lacks, where it is no other's too."""
    found = getattr(tokenizer.model, "unk_token", None) or tokens.get("unk_token") or "<unk>"
    return None if found in [tokens.get(name) for name in _OWN_NAMES] else str(found)


def _pairs(given: Any, result: Any) -> list[tuple[Any, list[int]]]:
    """Each text with its tokens, whatever they came in."""
    ids = result["input_ids"] if isinstance(result, Mapping) else result
    ids = ids.tolist() if hasattr(ids, "tolist") else ids
    if isinstance(given, str):
        return [(given, ids[0] if ids and isinstance(ids[0], list) else ids)]
    return list(zip(given, ids, strict=True)) if isinstance(given, (list, tuple)) else []


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _remember(about: Tokenized, text: str) -> None:
    if not about.example and text.strip():
        about.example = " ".join(text.split())[:40]
