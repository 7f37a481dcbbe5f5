"""Factors that are masks by what they are called, where nothing else says what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.facts.api.attention import MIXES
from trainlint.facts.ask.attention import Masking, Way
from trainlint.facts.ask.query_masks import is_of_queries
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.values import Choice, Constant, Op, Unknown, Value

_MASK = re.compile(r"(^|_)masks?$")
_SAYS_WHICH = re.compile(
    r"(^|_)(present|valid|real|exists|non_?pad|not_?pad|unpadded)(_(tokens?|items?|positions?|steps?))?$"
)
"""Names of what tells real items from padding, where it is turned into numbers, as booleans are."""
_OTHERS = re.compile(r"head|drop|quer|layer|expert|token_type|^q_|soft|gauss|decay|dist|weight|prior|bias")
"""Masks that leave out whole heads, or rows, on purpose, or weigh what they meet."""

_FIRST_NAME = re.compile(r"\w+")

_CASTS = frozenset("float double half to type type_as int long".split())
_SAME_MASK = frozenset(
    "getitem unsqueeze float double half to type type_as bool int long view reshape expand expand_as repeat == != not "
    "squeeze transpose permute contiguous".split()
)


def called_masks(weights: Way) -> Iterator[Masking]:
    """What weights or scores are multiplied with that the program calls a mask: `weights * mask[:, None].float()`."""
    for op, factor in zip(weights.scaled, weights.factors, strict=True):
        if op.name == "*" and _is_called_mask(factor) and not is_of_queries(factor):
            yield Masking(op, "*", factor)


def is_of_items(scores: Op) -> bool:
    """Whether scores are products of queries and keys, or one number for each item, rather than those of classes or ways."""
    if scores.name in MIXES:
        return True
    size = scores.owner.argument(1, "out_features") if scores.owner is not None else None
    return scores.name == "linear" and number_of(size) == 1


def _is_called_mask(value: Value) -> bool:
    written, is_cast = "", False
    for _ in range(8):
        if isinstance(value, Choice):  # `mask=None`
            given = [one for one in value.parts() if not isinstance(one, Constant)]
            if len(given) != 1:
                return False
            value = given[0]
        if isinstance(value, Unknown):
            return _is_mask(value.text) or (is_cast and _SAYS_WHICH.search(_last(value.text)) is not None)
        if isinstance(value, Constant) and value.value is None:  # the default of a parameter
            return any(map(_is_mask, _FIRST_NAME.findall(written)[:1]))
        if not isinstance(value, Op) or value.name not in _SAME_MASK or not value.inputs:
            return False
        written = value.text or written
        is_cast = is_cast or value.name in _CASTS
        value = value.inputs[0]
    return False


def _is_mask(text: str) -> bool:
    name = _last(text)
    return _MASK.search(name) is not None and _OTHERS.search(name) is None


def _last(text: str) -> str:
    return text.lower().rpartition(".")[2]
