from collections.abc import Iterator

from trainlint.facts.api.attention import NOTHING_LEFT
from trainlint.facts.ask.attention import Masking, Way, is_given, is_zero_or_one, scores_of, weights_of
from trainlint.facts.ask.called_masks import called_masks
from trainlint.facts.model.events.operations import Attended, Pooled
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op
from trainlint.finding import Because, Finding, not_shown_by_runs
from trainlint.rule import rule

from .parts import is_of_all

STILL_WEIGHS = -1.0
"""A masked score that is not lower leaves a key about as much weight as the other keys."""


@rule(Training, level="error", words="softmax Softmax masked_fill masked_fill_ attn_mask key_padding_mask")
def check(training: Training) -> Iterator[Finding]:
    for attended in training.events(Attended):
        yield from _of(attended)
    for pooled in training.events(Pooled):
        yield from not_shown_by_runs(_of(pooled))


def _of(attended: Attended | Pooled) -> Iterator[Finding]:
    weights = weights_of(attended.weights, attended.output.uid)
    if weights is None or weights.maskings or weights.addends:
        return
    if not all(isinstance(one, Constant) for one in weights.factors):
        return
    for softmax in weights.ends:
        scores = scores_of(softmax)
        if scores is None or any(map(hides, scores.maskings)):
            continue
        named = list(called_masks(scores))
        for masking in (*scores.maskings, *named):
            if masking.op.at is None or not is_of_all(masking, scores):
                continue
            if masking not in named and not leaves_weight(masking, scores, softmax):
                continue
            value = "multiplied by 0" if masking.way == "*" else f"set to {masking.fill:g}"
            yield Finding(
                masking.op.at,
                f"Masked scores are {value} here, but softmax gives a score of 0 a normal weight, since "
                'exp(0) is 1: masked positions are still attended to. Fill with `float("-inf")`.',
                (Because(softmax.at, "softmax turns them into weights here"),)
                if softmax.at is not None
                else (),
                evidence=measured(softmax),
                confidence="likely" if masking in named else None,
                doubt="what the mask holds is not in sight: it is one by its name"
                if masking in named
                else "",
            )


def hides(masking: Masking) -> bool:
    """Whether a mask does, or may, leave keys without weight."""
    if masking.way in ("+", "-"):
        return True
    return masking.way != "*" and (masking.fill is None or masking.fill <= NOTHING_LEFT)


def leaves_weight(masking: Masking, scores: Way, softmax: Op) -> bool:
    if not all(is_given(masking, end) for end in scores.ends):
        return False
    if masking.way == "*":
        return is_zero_or_one(masking)
    if masking.way == "setitem" and not isinstance(masking.mask, Op):
        return False
    return masking.fill is not None and STILL_WEIGHS <= masking.fill <= 1


def measured(softmax: Op) -> dict[str, float | str]:
    return {"scores": str(list(softmax.seen.shape))} if softmax.seen is not None else {}
