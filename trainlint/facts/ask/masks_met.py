"""The masks that meet the scores of attention, and whether they let through what they should."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainlint.facts.api.attention import ATTENTION_MASKS, NOTHING_LEFT, SDPA
from trainlint.facts.ask.attention import Masking, both, scores_of
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.mask_parts import Mask, Part
from trainlint.facts.ask.masks import made, turned
from trainlint.facts.ask.pooled_masks import keeps
from trainlint.facts.ask.turns import is_over_queries
from trainlint.facts.model.elements import Element
from trainlint.facts.model.events.operations import AttentionCall, Operation
from trainlint.facts.model.values import Op, Value, alternatives
from trainlint.facts.seen.masks import MaskSeen
from trainlint.finding import Place

if TYPE_CHECKING:
    from trainlint.facts.model.training import Training


_APPLIED_BY = {
    "sdpa": ("F.scaled_dot_product_attention", "attn_mask"),
    "attention": ("nn.MultiheadAttention", "attn_mask"),
    "key_padding": ("nn.MultiheadAttention", "key_padding_mask"),
    "add": ("+", ""),
}
"""What applies a mask that a run has met, and as which argument, by `MaskSeen.way`."""


@dataclass(frozen=True)
class MaskMet:
    """A mask meets scores, at a softmax of the program's own or in a call.

    Args:
        at: where it is applied.
        by: what applies it: `masked_fill`, `nn.MultiheadAttention`, `F.scaled_dot_product_attention`.
        argument: the name of the argument, in a call.
        part: what it is to leave out; None where it is not known what the mask holds.
        sees: whether what should be seen can be seen; None where that is not known.
        hides: whether what should be left out is left out.
        are_numbers: its ones and zeros are added to the scores as they are.
        softmax: the softmax that follows, where the program has one of its own.
        told_by: the average or sum over positions that says what the mask holds, where nothing else does.
        is_behind_causal: whether the same call hides later positions, among which the padding behind a sequence is.
    """

    at: Place
    by: str
    argument: str
    part: Part | None
    sees: bool | None = None
    hides: bool | None = None
    are_numbers: bool = False
    softmax: Op | None = None
    told_by: Place | None = None
    is_behind_causal: bool = False


def masks_met(training: Training) -> Iterator[MaskMet]:
    """Every mask that meets scores in a training."""
    for call in training.events(AttentionCall):
        for argument, position in ATTENTION_MASKS[call.name].items():
            for value in _not_converted(call.argument(position, argument)):
                yield from _met_in_call(training, call, argument, value)
    for operation in training.events(Operation):
        if operation.output.name == "softmax":
            way = scores_of(operation.output)
            for masking in way.maskings if way is not None else ():
                others = [one for one in way.maskings if one is not masking] if way is not None else []
                yield from _met(masking, operation, not any(map(_may_hide, others)))
    for seen in training.facts(MaskSeen):
        yield from _measured(seen)


def _measured(mask: MaskSeen) -> Iterator[MaskMet]:
    """A mask of a run of which the batch itself, or its shape, shows that it lets through what it should hide."""
    if mask.leaves not in ("padding", "later", "next", "everything") or not mask.before_softmax:
        return
    if mask.fill is not None and mask.fill > NOTHING_LEFT:
        return
    by, argument = _APPLIED_BY.get(mask.way, (mask.way, ""))
    if mask.leaves == "next":
        yield MaskMet(mask.at, by, argument, Part("later", 0, None, last=1, is_square=True), True, True)
        return
    part = Part("later" if mask.leaves == "later" else "padding", 0, None)
    are_numbers = mask.leaves == "everything"
    yield MaskMet(mask.at, by, argument, part, are_numbers, False, are_numbers)


def _not_converted(mask: Value | None) -> Iterator[Value]:
    """What a mask may be, but for what a condition turns into another of these, as in `if mask.ndim == 3: mask = ~mask.bool()`:
    the condition may always hold."""
    ways = list(alternatives(mask))
    for one in ways:
        if not any(other is not one and is_made_of(other, one) for other in ways):
            yield one


def _met_in_call(training: Training, call: AttentionCall, argument: str, value: Value) -> Iterator[MaskMet]:
    mask = made(value)
    name = "F.scaled_dot_product_attention" if call.name == SDPA else call.name.removeprefix("torch.")
    name = "nn.MultiheadAttention" if name == "multi_head_attention_forward" else name
    if mask is None or mask.is_unknown:
        yield _told_by_an_average(training, call, name, argument, value)
        return
    attends = call.name == SDPA
    for part in mask.parts:
        if (part.kind == "padding") is not ("padding" in argument) and not (attends and part.is_named):
            continue
        are_numbers = _are_numbers(mask, part)
        hidden = [_hidden(one, attends, are_numbers) for one in (mask.kept, part.held)]
        sees = None if hidden[0] is None else not hidden[0]
        behind = part.kind == "padding" and _hides_later(call, argument)
        yield MaskMet(call.at, name, argument, part, sees, hidden[1], are_numbers, is_behind_causal=behind)


def _hides_later(call: AttentionCall, argument: str) -> bool:
    """Whether the mask of positions beside a mask of padding certainly hides those that come later."""
    known = ATTENTION_MASKS[call.name]
    beside = [argument.replace("key_padding_", ""), argument.replace("key_padding", "attn"), "mask"]
    name = next((one for one in beside if one in known and one != argument), None)
    mask = made(call.argument(known[name], name)) if name is not None else None
    return mask is not None and any(
        one.kind == "later" and _hidden(one.held, False, _are_numbers(mask, one)) is True
        for one in mask.parts
    )


def _told_by_an_average(
    training: Training, call: AttentionCall, name: str, argument: str, value: Value
) -> MaskMet:
    """A mask of which nothing is known but that what attention gives is averaged where it is True, or False."""
    found = keeps(training, value, call.output) if "padding" in argument else None
    if found is None:
        return MaskMet(call.at, name, argument, None)
    is_true_at_tokens, average = found
    is_right = not is_true_at_tokens
    part = Part("padding", value.uid, is_right, is_named=True)
    return MaskMet(call.at, name, argument, part, is_right, is_right, told_by=average.at)


def _are_numbers(mask: Mask, part: Part, with_booleans: bool = False) -> bool:
    """Whether a mask is of floating ones and zeros, or of booleans, which are ones and zeros in a sum."""
    held = (mask.kept, part.held)
    kinds = (float, bool) if with_booleans else float
    return all(isinstance(one, kinds) for one in held) and set(held) == {0.0, 1.0}


def _may_hide(masking: Masking) -> bool:
    """Whether a mask may leave keys without weight, whatever it holds."""
    return masking.way in ("+", "-") or masking.fill is None or masking.fill <= NOTHING_LEFT


def _hidden(held: Element, attends: bool, are_numbers: bool) -> bool | None:
    if held is None or (isinstance(held, int) and not isinstance(held, bool)):
        return None
    if isinstance(held, bool):
        return held is not attends
    return False if are_numbers else held <= NOTHING_LEFT


def _met(masking: Masking, softmax: Operation, is_alone: bool) -> Iterator[MaskMet]:
    """A mask of the program's own, and whether no other may hide what it does not."""
    mask = made(masking.mask)
    is_turned = both(masking.is_turned, is_over_queries(softmax.output))
    if mask is not None and is_turned is not False:
        mask = turned(mask) if is_turned else None
    if mask is None or mask.is_unknown:
        yield MaskMet(masking.op.at or softmax.at, masking.way, "", None)
        return
    if masking.op.at is None or masking.way == "*":
        return
    for part in mask.parts:
        if part.kind == "padding" and not part.is_named:
            continue
        if masking.way in ("+", "-"):
            sign = 1 if masking.way == "+" else -1
            held = [None if one is None else sign * one for one in (mask.kept, part.held)]
            hidden = [None if one is None else one <= NOTHING_LEFT for one in held]
            if hidden == [False, False]:
                if is_alone and _are_numbers(mask, part, with_booleans=True):
                    yield MaskMet(masking.op.at, masking.way, "", part, True, False, True, softmax.output)
                continue
        elif masking.fill is None or masking.fill > NOTHING_LEFT:
            continue
        else:
            hidden = [
                None if one is None else bool(one) is not masking.is_kept for one in (mask.kept, part.held)
            ]
        sees = None if hidden[0] is None else not hidden[0]
        yield MaskMet(masking.op.at, masking.way, "", part, sees, hidden[1], softmax=softmax.output)
