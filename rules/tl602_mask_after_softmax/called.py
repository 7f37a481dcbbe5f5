"""Factors that are masks by what they are called, where nothing else says what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.facts.api.attention import MIXES
from trainlint.facts.ask.attention import Masking, Way
from trainlint.facts.model.values import Choice, Constant, Op, Unknown, Value

from .queries import is_of_queries

_MASK = re.compile(r"(^|_)masks?$")
_OTHERS = re.compile(r"head|drop|quer|layer|expert|token_type|^q_")
"""Masks that leave out whole heads, or rows, on purpose."""

_FIRST_NAME = re.compile(r"\w+")

_SAME_MASK = frozenset(
    "getitem unsqueeze float double half to type type_as bool int long view reshape expand expand_as repeat == != not "
    "squeeze transpose permute contiguous".split()
)


def called_masks(weights: Way) -> Iterator[Masking]:
    """What weights are multiplied with that the program calls a mask: `weights * mask[:, None].float()`."""
    for op, factor in zip(weights.scaled, weights.factors, strict=True):
        if op.name == "*" and _is_called_mask(factor) and not is_of_queries(factor):
            yield Masking(op, "*", factor)


def is_product(scores: Op) -> bool:
    """Whether scores are products of queries and keys, rather than what a layer gives."""
    return scores.name in MIXES


def _is_called_mask(value: Value) -> bool:
    written = ""
    for _ in range(8):
        if isinstance(value, Choice):  # `mask=None`
            given = [one for one in value.parts() if not isinstance(one, Constant)]
            if len(given) != 1:
                return False
            value = given[0]
        if isinstance(value, Unknown):
            return _is_mask(value.text)
        if isinstance(value, Constant) and value.value is None:  # the default of a parameter
            return any(map(_is_mask, _FIRST_NAME.findall(written)[:1]))
        if not isinstance(value, Op) or value.name not in _SAME_MASK or not value.inputs:
            return False
        written = value.text or written
        value = value.inputs[0]
    return False


def _is_mask(text: str) -> bool:
    name = text.lower().rpartition(".")[2]
    return _MASK.search(name) is not None and _OTHERS.search(name) is None
