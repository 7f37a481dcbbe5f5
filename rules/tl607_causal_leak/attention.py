"""Attention without a mask over tokens of which the next ones are the targets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.api.attention import SDPA
from trainlint.facts.ask.flow import is_made_of, made_of
from trainlint.facts.ask.sequences import batches, lead, prediction, tokens
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import AttentionCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op, Value
from trainlint.finding import Place

_OVER_TOKENS = ("cross_entropy", "nll_loss")


class _Self(NamedTuple):
    """Where a layer or function takes what it attends to, and the mask for that."""

    keys: int
    name: str
    mask: int
    mask_name: str


_ATTENDS = {
    SDPA: _Self(1, "key", 3, "attn_mask"),
    "torch.nn.MultiheadAttention": _Self(1, "key", 5, "attn_mask"),
    "torch.nn.TransformerEncoder": _Self(0, "src", 1, "mask"),
    "torch.nn.TransformerEncoderLayer": _Self(0, "src", 1, "src_mask"),
    "torch.nn.TransformerDecoder": _Self(0, "tgt", 2, "tgt_mask"),
    "torch.nn.TransformerDecoderLayer": _Self(0, "tgt", 2, "tgt_mask"),
    "torch.nn.Transformer": _Self(1, "tgt", 3, "tgt_mask"),
}


class Leak(NamedTuple):
    """A model that is trained to predict the next token, and attention in it that sees that token."""

    at: Place
    call: AttentionCall
    mask: str
    loss: LossCall


def leaks(training: Training) -> Iterator[Leak]:
    """Where models that predict the next token attend to it: the call of the model, where it is in sight."""
    unmasked = {call.output.uid: call for call in training.events(AttentionCall) if _is_unmasked(call)}
    for loss in training.events(LossCall) if unmasked else ():
        looked_up = _of_next_tokens(training, loss) if loss.function in _OVER_TOKENS else []
        predicted = prediction(loss)
        if predicted is None or not looked_up:
            continue
        for one in made_of(predicted.of):
            call = unmasked.get(one.uid)
            known = _ATTENDS[call.name] if call is not None else None
            keys = (
                call.output.option(known.keys, known.name) if call is not None and known is not None else None
            )
            if call is None or known is None or keys is None:
                continue
            if any(is_made_of(keys, at) for at in looked_up):
                yield Leak(_called_at(training, loss.input, loss, call), call, known.mask_name, loss)


def _of_next_tokens(training: Training, loss: LossCall) -> list[Op]:
    """Where tokens are looked up of which a loss has the next ones as targets."""
    predicted = prediction(loss)
    if predicted is None or loss.target is None or _is_changed(loss.target):
        return []
    known = batches(training)
    ahead = [(one, lead(one.value, loss.target, known)) for one in tokens(predicted.of) or []]
    found = [(one, by) for one, by in ahead if by is not None]
    if len({one.value.uid for one, _ in found}) != 1:  # an encoder may read what a decoder writes again
        return []
    return [one.at for one, by in found if by.steps == predicted.start + 1]


def _is_changed(target: Value) -> bool:
    """Whether some targets are replaced, as where the loss is to ignore them."""
    return any(isinstance(one, Op) and one.written for one in made_of(target))


def _is_unmasked(call: AttentionCall) -> bool:
    known = _ATTENDS.get(call.name)
    if known is None or call.is_open or "is_causal" in call.output.options:
        return False
    is_long = call.name == SDPA and len(call.output.inputs) > 5
    if call.argument(known.mask, known.mask_name) is not None or is_long:
        return False
    return not any(
        isinstance(one, Constant) and one.value is True and "causal" in name
        for name, one in call.output.options.items()
    )


def _called_at(training: Training, predicted: Value | None, loss: LossCall, call: AttentionCall) -> Place:
    """The outermost call of a module on the way from attention to a prediction, or to the loss, if that is inside."""
    around = [
        one.at
        for one in training.events(Forward)
        if is_made_of(one.output, call.output)
        and not any(is_made_of(given, call.output) for given in one.inputs)
        and (
            (predicted is not None and is_made_of(predicted, one.output))
            or is_made_of(one.output, loss.output)
        )
    ]
    return around[-1] if around else call.at
