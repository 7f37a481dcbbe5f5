"""Losses that are means over a batch."""

from __future__ import annotations

from collections.abc import Container
from typing import TypeGuard

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.effort import spend
from trainlint.facts.model.elements import number_of, plain
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op, Value, alternatives, constant

_KEEPS_SIZE = frozenset(("+", "add", "output", "scale", "getitem", "mean"))
"""Operations between a loss and its backward that do not divide it by a number of batches."""
_AT_LEAST = frozenset("clamp clamp_min float item maximum".split())
_CASTS = frozenset("float long int to".split())
_LENGTHS = frozenset("numel len builtins.len".split())
_SHAPES = frozenset("view reshape flatten contiguous squeeze unsqueeze long to".split())
_COMPARES = frozenset("!= == > >= < <=".split())


def is_whole_mean(training: Training, loss: Value) -> bool:
    """Whether a loss certainly is the mean over a batch, or a sum of such means, divided by nothing else. Some summands may
    have weights, as long as one has none: what they share would be on all of them."""
    losses = {one.output.uid: one for one in training.events(LossCall)}
    pending: list[tuple[Value, bool, bool]] = [(loss, False, False)]
    seen: set[tuple[int, bool, bool]] = set()
    found = False
    while pending:
        one, averaged, weighted = pending.pop()
        if (one.uid, averaged, weighted) in seen:
            continue
        seen.add((one.uid, averaged, weighted))
        spend()
        if _is_total_by_count(one, losses):
            found |= not weighted
            continue
        call = losses.get(one.uid)
        if call is not None:
            if not averaged and constant(call.setting("reduction", "mean")) != "mean":
                return False
            found |= not weighted
        elif (same := _by_one(one)) is not None:
            pending.append((same, averaged, weighted))
        elif (inner := _weighted(one, losses)) is not None:
            pending.append((inner, averaged, True))
        elif isinstance(one, Op) and one.name in _KEEPS_SIZE:
            pending.extend((part, averaged or one.name == "mean", weighted) for part in one.inputs[:2])
        else:
            return False
    return found


def _by_one(value: Value) -> Value | None:
    """What is divided or multiplied by 1, and stays what it is: a divisor that was looked up under a name that is not there."""
    if isinstance(value, Op) and plain(value) in ("/", "div", "*", "mul") and len(value.inputs) == 2:
        return value.inputs[0] if number_of(value.inputs[1]) == 1 else None
    return None


def _weighted(value: Value, losses: Container[int]) -> Value | None:
    """What is multiplied by a setting: the loss in `0.4 * loss`."""
    if not _is_product(value) or len(value.inputs) != 2:
        return None
    made = [one for one in value.inputs if any(part.uid in losses for part in reached([one], most=400))]
    return made[0] if len(made) == 1 else None


def _is_total_by_count(value: Value, losses: dict[int, LossCall]) -> bool:
    """Whether a value is a sum of losses, perhaps weighted, by how many targets of the batch there are: `(each * kept).sum()
    / kept.sum()`, where `kept` compares the targets."""
    if not isinstance(value, Op) or plain(value) != "/" or len(value.inputs) != 2:
        return False
    total, count = value.inputs
    is_summed = isinstance(total, Op) and total.name == "sum" and len(total.parts()) == 1
    summed = total.inputs[0] if is_summed and isinstance(total, Op) else total
    each = [one for one in _factors(summed) if one.uid in losses]
    if not each:
        return False
    call = losses[each[0].uid]
    wanted = "none" if is_summed else "sum"
    others = [one for one in _factors(summed) if one is not each[0]]
    return (
        constant(call.setting("reduction", "mean")) == wanted
        and call.target is not None
        and all(_is_of(one, call.target) for one in others)
        and _counts(count, each[0], call.target)
    )


def _factors(value: Value) -> list[Value]:
    return [
        one
        for one in reached([value], lambda one: one.inputs if _is_product(one) else ())
        if not _is_product(one)
    ]


def _is_product(value: Value) -> TypeGuard[Op]:
    return isinstance(value, Op) and plain(value) == "*"


def _is_of(value: Value, target: Value) -> bool:
    """Whether a weight certainly is made of the targets."""
    return all(
        any(_is_same(part, target) for part in reached([one], most=200)) for one in alternatives(value)
    )


def _counts(value: Value, each: Value, target: Value) -> bool:
    """Whether a number is how many targets, or losses, there are, or how many of them are kept."""
    while isinstance(value, Op) and plain(value) in _AT_LEAST:
        value = value.inputs[0]
    if not isinstance(value, Op) or not value.inputs:
        return False
    if value.name in _LENGTHS:
        return value.inputs[0] is each or _is_same(value.inputs[0], target)
    kept = value.inputs[0] if value.name == "sum" else None
    while isinstance(kept, Op) and kept.name in _CASTS:
        kept = kept.inputs[0]
    return isinstance(kept, Op) and plain(kept) in _COMPARES and _is_same(kept.inputs[0], target)


def _is_same(one: Value, other: Value) -> bool:
    """Whether two values are the same numbers, as far as none of them is left out: `labels` and `labels.view(-1)`."""
    return _whole(one) is _whole(other)


def _whole(value: Value) -> Value:
    while isinstance(value, Op) and value.name in _SHAPES and value.inputs:
        value = value.inputs[0]
    return value


def is_mean_of_labels(loss: Value) -> bool:
    """Whether a loss is the one that a model gives if it is called with `labels`, as those of Hugging Face do: a mean over the
    labels of its batch, unless the model is told how many there are in several. What `model(**batch)` has as `loss` is that, too:
    the labels are in the batch. It may be scaled, or averaged over the devices of `DataParallel`."""
    while isinstance(loss, Op) and loss.name in ("scale", "mean") and loss.inputs:
        loss = loss.inputs[0]
    is_named = True
    match loss:
        case Op(
            name="getattr", inputs=(Op(name="output") as output, *_), options={"name": Constant(value="loss")}
        ):
            call: Value = output
        case Op(
            name="getitem",
            inputs=(Op(name="output") as output, *_),
            options={"index": Constant(value=0 | "loss" as index)},
        ):
            call, is_named = output, index == "loss"
        case _:
            return False
    while isinstance(call, Op) and call.name == "output" and call.inputs:
        call = call.inputs[0]
    is_told = isinstance(call, Op) and "num_items_in_batch" in call.options
    has_labels = isinstance(call, Op) and ("labels" in call.options or (is_named and "**" in call.options))
    return has_labels and not is_told
