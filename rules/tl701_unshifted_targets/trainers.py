"""The loss of a trainer's own `compute_loss`, of the labels and the logits that it is given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainlint.facts.api.torch_names import shifts_labels
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.frameworks import StepMethod
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, constant

_CAUSAL = re.compile(r"(?<![A-Z])LM(?![a-z])|Causal|LanguageModel|SFT|GPT|Llama|Instruct")
_NOT_CAUSAL = re.compile(r"MLM|Masked|Seq2?Seq|T5|Bart|Classif|Tag|NER|Token")
_SAME_PLACES = frozenset(
    "view reshape flatten contiguous to float long double bfloat16 half cuda clone transpose permute output".split()
)
_MOST_STEPS = 30


class Unshifted(NamedTuple):
    """A loss over logits and labels of one position; `is_sure` where the model is in sight."""

    loss: LossCall
    is_sure: bool


def unshifted(training: Training) -> Iterator[Unshifted]:
    for step in training.events(StepMethod):
        if step.name != "compute_loss":
            continue
        for loss in training.events(LossCall):
            model = _model(loss.input)
            if loss.function != "cross_entropy" or model is None or not _are_labels(loss.target):
                continue
            if not is_made_of(step.returns, loss.output):
                continue
            if shifts_labels(model.name):
                yield Unshifted(loss, True)
            elif model.name == "call" and _is_causal(step.receiver):
                yield Unshifted(loss, False)


def _is_causal(trainer: Object) -> bool:
    """Whether a trainer is one of causal models, by its base or its name."""
    if any(base.endswith(".SFTTrainer") for base in trainer.bases):
        return True
    name = trainer.type.rpartition(".")[2]
    return _CAUSAL.search(name) is not None and _NOT_CAUSAL.search(name) is None


def _stripped(value: Value | None) -> Op | None:
    for _ in range(_MOST_STEPS):
        if not isinstance(value, Op):
            return None
        if value.name not in _SAME_PLACES or not value.inputs or value.written:
            return value
        value = value.inputs[0]
    return None


def _model(logits: Value | None) -> Op | None:
    """The call of the model whose logits, at all positions, these are."""
    found = _stripped(logits)
    if found is None or found.name not in ("getattr", "getitem") or not found.inputs:
        return None
    which = found.options.get("name") if found.name == "getattr" else found.option(1, "index")
    return _stripped(found.inputs[0]) if constant(which) in ("logits", 0) else None


def _are_labels(target: Value | None) -> bool:
    """Whether targets are the labels of the batch, at all positions: `inputs["labels"]`, `inputs.pop("labels")`."""
    found = _stripped(target)
    if found is None or found.written:
        return False
    match found.name:
        case "call":
            return len(found.inputs) > 1 and bool(constant(found.inputs[1]) == "labels")
        case "getitem":
            return bool(constant(found.option(1, "index")) == "labels")
        case "iterate":
            return found.text == "labels"
    return False
