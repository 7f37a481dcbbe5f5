from collections.abc import Iterator

from trainlint.facts.ask.attention import Masking, is_given, is_zero_or_one, scores_of, weights_of
from trainlint.facts.model.events import Attended
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .queries import is_of_queries


@rule(Attended, level="error")
def check(attended: Attended) -> Iterator[Finding]:
    weights = weights_of(attended.weights, attended.output.uid)
    if weights is None or weights.addends or not weights.maskings:
        return
    scores = [scores_of(softmax) for softmax in weights.ends]
    if not all(one is not None and not one.maskings and not one.addends for one in scores):
        return
    ends = [*weights.ends, *(end for one in scores if one is not None for end in one.ends)]
    for masking in weights.maskings:
        if masking.op.at is None or not empties(masking) or not all(is_given(masking, end) for end in ends):
            continue
        softmax = weights.ends[0]
        shape = {"weights": str(list(softmax.seen.shape))} if softmax.seen is not None else {}
        yield Finding(
            masking.op.at,
            "The mask is put on after the softmax, which has shared out the weight among all keys, the masked ones "
            "included: what is left of a row no longer sums to 1, and depends on scores that were to be ignored. Put "
            'it on the scores, with `float("-inf")`, or divide by the sum afterwards.',
            (Because(softmax.at, "softmax takes all keys here"),) if softmax.at is not None else (),
            evidence=shape,
        )


def empties(masking: Masking) -> bool:
    """Whether a mask on weights certainly makes those of some keys 0."""
    if is_of_queries(masking.mask):
        return False
    if masking.way == "*":
        return is_zero_or_one(masking)
    return masking.way in ("masked_fill", "where") and masking.fill == 0
