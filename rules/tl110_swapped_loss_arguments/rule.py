import re
from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.meanings import Meaning
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.evidence import of_arguments
from trainlint.facts.ask.flow import is_data, made_of
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.ask.meaning import origins
from trainlint.facts.ask.unseen_models import unseen_model
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Unknown, Value, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .of_own import swapped

_TARGET = re.compile(r"y|y_true|y_batch|labels?|targets?|gts?|ground_truth|true_labels|y_train")

_PREDICTION = re.compile(r"pred|prob|logit|score|out|hat|recon|fake|gen|^p$", re.IGNORECASE)
_RESHAPES = frozenset("float view reshape flatten squeeze unsqueeze to".split())
_JOINS = ("cat", "concat", "stack", "hstack", "vstack")
_FILLED = frozenset("ones zeros full ones_like zeros_like full_like".split())
_SQUASHES = _RESHAPES | {"sigmoid", "clamp"}
_OF_IMAGES = frozenset(("binary_cross_entropy", "binary_cross_entropy_with_logits"))
"""Losses that compare data with what is rebuilt of it."""

SYMMETRIC = frozenset(
    "mse_loss l1_loss smooth_l1_loss huber_loss cosine_embedding_loss margin_ranking_loss triplet_margin_loss "
    "triplet_margin_with_distance_loss".split()
)
"""Losses whose first two tensors are of one kind: any of them may be learned."""


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    for loss in training.events(LossCall):
        yield from _of(loss)
    for loss in () if isinstance(training, Recorded) else swapped(training, _is_output):
        yield Finding(
            loss.calls[-1] if len(loss.calls) > 1 else loss.at,
            f"{loss.name} takes the log-softmax of its targets here, and weighs it with what the model gives: the two arguments "
            "are in the wrong order. Swap them.",
            (Because(loss.at, "the log-softmax is taken here"),),
            confidence="likely",
            doubt="what the model does is not in sight",
            is_shown_by_runs=False,
        )


def _of(loss: LossCall) -> Iterator[Finding]:
    if loss.function in SYMMETRIC or loss.function == "log_softmax" or len(loss.output.inputs) < 2:
        return
    first, second = loss.output.inputs[:2]
    if loss.function == "kl_div" and _may_be_reversed(loss, second):
        return
    sure = _is_prediction(second)
    is_first = (
        is_data(first)
        or _is_filled(first)
        or _is_named_target(first)
        or _is_seen_without_gradient(first, second)
    )
    is_rebuilt = _is_rebuilt(loss, first, second)
    sure = sure and not is_rebuilt
    if is_rebuilt or (is_first and (sure or _is_output(second))):
        yield Finding(
            loss.at,
            f"`{loss.output.text}` gets the target first and the prediction second, but {loss.name} expects "
            "the prediction first: where the shapes agree, it silently computes a different loss. Swap the "
            "two arguments.",
            evidence=of_arguments(first, second),
            confidence=None if sure else "likely",
            doubt="" if sure else "what the model does is not in sight",
        )


def _is_named_target(value: Value) -> bool:
    """Whether a tensor is a parameter that nobody in sight hands over, or a part of one, with a name that targets have:
    `targets`, `batch["labels"]`."""
    while isinstance(value, Op) and value.name in _RESHAPES | {"long"} and value.inputs:
        value = value.inputs[0]
    match value:
        case Unknown(text=name):
            return _TARGET.fullmatch(name) is not None
        case Op(name="getitem", inputs=(Unknown(), *_)):
            key = constant(value.option(1, "index"))
        case Op(name="getattr", inputs=(Unknown(), *_)):
            key = constant(value.option(1, "name"))
        case _:
            return False
    return isinstance(key, str) and _TARGET.fullmatch(key) is not None


def _is_filled(value: Value) -> bool:
    """Whether a tensor holds one number after another that the program names, as the labels of real and fake samples do."""
    while isinstance(value, Op) and value.name in _RESHAPES and value.inputs:
        value = value.inputs[0]
    parts = value.parts() if isinstance(value, Op) and value.name in _JOINS else [value]
    parts = [one for part in parts for one in (part.parts() if isinstance(part, Items) else [part])]
    return bool(parts) and all(
        isinstance(one, Op) and one.name in _FILLED and not one.written for one in parts
    )


def _is_seen_without_gradient(first: Value, second: Value) -> bool:
    """Whether a run has shown that only the second tensor has a gradient, and that no model has made the first."""
    if not (isinstance(first, Op) and isinstance(second, Op) and first.attached is False and second.attached):
        return False
    return attachment(first).is_nothing and not any(
        isinstance(one, Op) and one.owner is not None for one in made_of(first)
    )


def _is_rebuilt(loss: LossCall, first: Value, second: Value) -> bool:
    """Whether the second tensor is what a model makes of the first, which nobody in sight hands over: a reconstruction of
    data."""
    while isinstance(first, Op) and first.name in _RESHAPES and first.inputs:
        first = first.inputs[0]
    while isinstance(second, Op) and second.name in _SQUASHES and second.inputs:
        second = second.inputs[0]
    if loss.function not in _OF_IMAGES or not isinstance(first, Unknown) or _PREDICTION.search(first.text):
        return False
    is_moved = isinstance(second, Op) and second.name != "detach"
    return is_moved and _is_output(second) and any(one is first for one in reached([second], most=400))


def _is_output(value: Value) -> bool:
    """Whether a tensor is what a model gives whose layers are not in sight, or not what they hold: the model is handed over."""
    model = unseen_model(value)
    if model is None and isinstance(value, Op) and value.name == "output" and value.owner is not None:
        model = value.owner if value.owner.is_a(MODULE) and _may_learn(value.owner) else None
    return model is not None


def _may_learn(model: Object) -> bool:
    return model.is_open or has_parameters(model) is not False


def _may_be_reversed(loss: LossCall, target: Value) -> bool:
    """Whether what the model gives may be the target on purpose, as in the divergence of a posterior from a prior:
    the target of `kl_div` is a probability, or the logarithm of one if `log_target` says so."""
    is_log = constant(loss.setting("log_target", default=False))
    meanings = {meaning for meaning, _ in origins(target)}
    return meanings != {Meaning.LOG_PROBABILITIES} if is_log is False else True


def _is_prediction(value: Value) -> bool:
    """Whether a tensor certainly comes out of trainable parameters, under `no_grad` or not."""
    found = attachment(value)
    return found.attached or (bool(found.unrecorded) and not found.uncertain and not found.cuts)
