from collections.abc import Iterator

from trainlint.facts.ask.attention import Masking, Way, is_given, is_zero_or_one, scores_of, weights_of
from trainlint.facts.ask.called_masks import called_masks, is_of_items
from trainlint.facts.ask.query_masks import is_of_queries
from trainlint.facts.model.events.operations import Attended
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .graphs import graph_masks
from .measured import measured_masks

_FOR_SCORES = -1e4
"""Fill values from here on down are meant for scores: a weight is never negative."""


@rule(Attended, level="error", words="softmax Softmax masked_fill masked_fill_ attn_mask key_padding_mask")
def check(attended: Attended) -> Iterator[Finding]:
    weights = weights_of(attended.weights, attended.output.uid)
    if weights is None or weights.addends or not (weights.maskings or weights.scaled):
        return
    for masking in graph_masks(weights):
        yield from _finding(masking, weights, is_sure=False)
        return
    scores = [scores_of(softmax) for softmax in weights.ends]
    if not all(one is not None and not one.maskings and not one.addends for one in scores):
        return
    ends = [*weights.ends, *(end for one in scores if one is not None for end in one.ends)]
    of_items = all(map(is_of_items, ends[len(weights.ends) :]))
    measured = list(measured_masks(weights)) if of_items else []
    named = list(called_masks(weights)) if of_items and not measured else []
    for masking in (*weights.maskings, *measured, *named):
        is_sure = masking not in named
        if not all(is_given(masking, end) for end in ends):
            continue
        if masking in weights.maskings and not empties(masking):
            continue
        yield from _finding(masking, weights, is_sure=is_sure)


def _finding(masking: Masking, weights: Way, *, is_sure: bool) -> Iterator[Finding]:
    if masking.op.at is None:
        return
    softmax = weights.ends[0]
    shape = {"weights": str(list(softmax.seen.shape))} if softmax.seen is not None else {}
    yield Finding(
        masking.op.at,
        "The mask is applied after the softmax, so the rows no longer sum to 1 and still depend on the "
        'masked scores. Apply it to the scores before the softmax, with `float("-inf")`, or renormalise '
        "afterwards.",
        (Because(softmax.at, "softmax includes the masked keys here"),) if softmax.at is not None else (),
        evidence=shape,
        confidence=None if is_sure else "likely",
        doubt="" if is_sure else "what the mask holds is not in sight: it is one by its name",
    )


def empties(masking: Masking) -> bool:
    """Whether a mask on the weights certainly sets those of some keys to 0."""
    if is_of_queries(masking.mask):
        return False
    if masking.way == "*":
        return is_zero_or_one(masking)
    fill = masking.fill if masking.way in ("masked_fill", "where", "tril", "triu") else None
    return isinstance(fill, (int, float)) and (fill == 0 or fill <= _FOR_SCORES)
