from collections.abc import Iterator

from trainlint.facts.api.attention import ATTENTION_MASKS, MASKS_MEET, SDPA
from trainlint.facts.ask.attention import weights_of
from trainlint.facts.ask.facts_of import masks_of
from trainlint.facts.ask.masks_met import MaskMet
from trainlint.facts.model.elements import plain
from trainlint.facts.model.events.operations import Attended, AttentionCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Op, alternatives
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

MAY_BE_NONE = frozenset(("call", "getattr", "framework", "getitem", "iterate"))
SAID = {
    -1: "masks each position from itself, so the first query has no key to attend to",
    1: "lets each position see the next one, which it has to predict",
}


@rule(Training, level="error", words=MASKS_MEET)
def check(training: Training) -> Iterator[Finding | Open]:
    for mask in masks_of(training):
        if mask.part is None:
            yield Open(mask.at, "what this mask holds")
            continue
        last = mask.part.last
        if mask.part.kind != "later" or not mask.part.is_square or last not in SAID:
            continue
        if mask.sees and mask.hides and not (last == -1 and is_mended(mask, training)):
            yield Finding(
                mask.at,
                f"This causal mask is off by one: it {SAID[last]}. Mask only the positions after the query's "
                "own: those that `torch.triu(…, diagonal=1)` keeps, or that `torch.tril(…)` sets to 0.",
                (Because(mask.part.at, "the mask is created here"),) if mask.part.at is not None else (),
                evidence={"last visible position, relative to the query": last},
            )
    for call in training.events(AttentionCall):
        if call.name == SDPA and is_masked_twice(call):
            yield Finding(
                call.at,
                "`is_causal=True` is passed together with `attn_mask`: torch raises on some backends, and "
                "applies both on others. Pass one of them: with padding, combine both in one `attn_mask`, "
                "without `is_causal`.",
            )


def is_mended(mask: MaskMet, training: Training) -> bool:
    """Whether the weights of the first position, which has nothing to attend to, may be replaced after the softmax."""
    if mask.softmax is None:
        return False
    for attended in training.events(Attended):
        weights = weights_of(attended.weights, attended.output.uid)
        if weights is not None and mask.softmax in weights.ends:
            return bool(weights.maskings or weights.factors or weights.addends)
    return True


def is_masked_twice(call: AttentionCall) -> bool:
    causal = call.output.option(5, "is_causal")
    if not (isinstance(causal, Constant) and causal.value is True and not causal.is_default):
        return False
    masks = list(alternatives(call.output.option(ATTENTION_MASKS[SDPA]["attn_mask"], "attn_mask")))
    return bool(masks) and all(isinstance(one, Op) and not may_be_none(one) for one in masks)


def may_be_none(op: Op) -> bool:
    """Whether there may be no mask; a tensor of which axes are taken or added is one."""
    index = op.options.get("index") or (op.inputs[1] if len(op.inputs) > 1 else None)
    return plain(op) in MAY_BE_NONE and not (op.name == "getitem" and isinstance(index, Items))
