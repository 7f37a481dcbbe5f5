"""Scores that are a sum of scores: of queries and of keys, or of contents and of positions."""

from __future__ import annotations

from collections.abc import Iterable

from trainlint.facts.api.attention import MIXES
from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attention import Masking, Way
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.elements import plain
from trainlint.facts.model.values import Choice, Constant, Op, Value

_LEARNED = MIXES | frozenset(("linear", "bilinear", "torch.nn.Linear", "embedding", "torch.nn.Embedding"))
_KEEPS = frozenset(
    "view reshape transpose permute unsqueeze squeeze contiguous output sum expand repeat t T mT flatten "
    "leaky_relu relu tanh getitem".split()
)


def is_of_all(masking: Masking, scores: Way) -> bool:
    """Whether a mask meets all that the scores are the sum of, and none of that may be a mask itself."""
    return all(_is_learned(one) and is_made_of(masking.op, one) for one in scores.addends)


def _is_learned(value: Value) -> bool:
    """Whether a value certainly is of numbers that a layer gives, or that are trained themselves, reshaped."""
    ends = [one for one in reached([value], _back) if not _back(one)]
    return any(map(_is_trained, ends)) and all(map(_is_plain, ends))


def _back(value: Value) -> Iterable[Value]:
    if isinstance(value, Choice):
        return value.parts()
    if not isinstance(value, Op) or value.written:
        return ()
    if plain(value) == "*":
        return value.inputs
    return value.inputs[:1] if value.name in _KEEPS else ()


def _is_trained(value: Value) -> bool:
    """Whether a layer gives a value, or it is a parameter of which nothing says that it stays what it is."""
    if not isinstance(value, Op):
        return False
    return value.name in _LEARNED or (
        value.name == PARAMETER and value.option(1, "requires_grad") is None and not value.written
    )


def _is_plain(value: Value) -> bool:
    if isinstance(value, Op):
        return value.name in _LEARNED or value.name == PARAMETER
    return isinstance(value, Constant)
