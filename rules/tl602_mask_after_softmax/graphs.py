"""Attention over the neighbours in a graph: scores of pairs, `a[:, None] + b[None]`, and an adjacency matrix as the mask."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.facts.ask.attention import Masking, Way
from trainlint.facts.ask.called_masks import called_masks
from trainlint.facts.model.values import Constant, Items, Op, Unknown, Value, constant

_ADJACENCY = re.compile(r"(^|_)(adj|adjacency|adj_?(mat|matrix)|neighbou?rs?_mask|edge_mask)$")
_KEEPS = frozenset("relu leaky_relu tanh elu output squeeze dropout".split())
_TURNS = frozenset("t T mT transpose permute swapaxes".split())
_SAME = frozenset("unsqueeze float to getitem expand repeat bool int".split())


def graph_masks(weights: Way) -> Iterator[Masking]:
    """What weights of pairs are multiplied with that is called an adjacency matrix, or a mask, where nothing has left out other
    pairs."""
    if not all(one.inputs and _is_of_pairs(one.inputs[0]) for one in weights.ends):
        return
    for op, factor in zip(weights.scaled, weights.factors, strict=True):
        if _is_adjacency(factor):
            yield Masking(op, "*", factor)
    yield from called_masks(weights)


def _is_of_pairs(scores: Value) -> bool:
    while isinstance(scores, Op) and scores.name in _KEEPS and scores.inputs:
        scores = scores.inputs[0]
    if not isinstance(scores, Op) or scores.name != "+" or len(scores.inputs) != 2:
        return False
    first, second = map(_turned, scores.inputs)
    return first != second


def _turned(term: Value) -> object:
    """Along which axes a summand runs, as far as that tells it from the other one."""
    if not isinstance(term, Op):
        return None
    if term.name == "unsqueeze":
        return constant(term.option(1, "dim"))
    index = term.option(1, "index") if term.name == "getitem" else None
    if isinstance(index, Items):
        return tuple(isinstance(one, Constant) and one.value is None for one in index.items)
    return "turned" if term.name in _TURNS else None


def _is_adjacency(value: Value) -> bool:
    while isinstance(value, Op) and value.name in _SAME and value.inputs:
        value = value.inputs[0]
    return isinstance(value, Unknown) and _ADJACENCY.search(value.text.lower()) is not None
