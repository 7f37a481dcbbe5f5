from collections.abc import Iterator
from math import isfinite, isnan, prod

from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Op
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.non_finite import NonFinite
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.raised import Failure
from trainlint.finding import Finding, Place
from trainlint.rule import rule

_OVER_CLASSES = ("cross_entropy", "nll_loss")
_ODD_INPUTS = ("float64", "uint8", "int8", "int16", "int32", "int64", "bool")
_MANY = 64


@rule(Recorded, level="error", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    batches = [one for one in recorded.facts(BatchSeen) if not one.attached]
    yield from _once(_empty(batches))
    yield from _once(_not_finite(batches, recorded))
    yield from _once(_constant(batches))
    failure = recorded.fatal
    if failure is not None:
        yield from _bad_label(failure)
        yield from _bad_type(failure, batches)


def _once(found: Iterator[Finding]) -> Iterator[Finding]:
    said: set[Place] = set()
    for one in found:
        if one.at not in said:
            said.add(one.at)
            yield one


def _what(batch: BatchSeen) -> str:
    if batch.role == "target":
        return f"The target of {batch.to}"
    if batch.name == "0":
        return f"The input of `{batch.to}`"
    return f"Input {batch.name if batch.name.isdigit() else f'`{batch.name}`'} of `{batch.to}`"


def _empty(batches: list[BatchSeen]) -> Iterator[Finding]:
    for one in batches:
        if one.role == "input" and one.name == "0" and one.shape[:1] == (0,):
            yield Finding(
                one.at,
                f"{_what(one)} has no samples, so a mean over it is NaN. Check the filter, slice or split "
                "that creates this batch, and skip empty ones.",
                evidence={"shape": str(one.shape)},
            )


def _not_finite(batches: list[BatchSeen], recorded: Recorded) -> Iterator[Finding]:
    gradients = [one.gradient for one in recorded.facts(ParameterSeen) if one.gradient is not None]
    values = [_value(event) for event in recorded.events(LossCall)]
    harmed = any(one.non_finite for one in gradients) or (
        not gradients
        and (
            any(one is not None and not isfinite(one) for one in values)
            or _is_refused_by_a_loss(recorded.fatal)
        )
    )
    made = {"NaN" if one.kind == "nan" else "infinity" for one in recorded.facts(NonFinite)}
    for one in batches if harmed else ():
        kind, spread = _broken(one), one.spread
        if kind is not None and spread is not None and kind not in made:
            yield Finding(
                one.at,
                f"{_what(one)} contains {kind} ({spread.non_finite} of {prod(one.shape)} elements are not "
                "finite), so the loss and its gradients are not finite either. Clean the data first, or mask "
                "missing values.",
                evidence={"not finite": spread.non_finite, "shape": str(one.shape)},
            )


def _is_refused_by_a_loss(failure: Failure | None) -> bool:
    """Whether a loss that only takes probabilities has raised, as it does for NaN."""
    return (
        failure is not None
        and failure.operation == "binary_cross_entropy"
        and "between 0 and 1" in failure.message
    )


def _broken(batch: BatchSeen) -> str | None:
    """The non-finite values it contains; minus infinity may be a mask."""
    if batch.spread is None or not batch.spread.non_finite:
        return None
    if isnan(batch.spread.largest):
        return "NaN"
    return "infinity" if batch.spread.largest == float("inf") else None


def _value(event: LossCall) -> float | None:
    seen = event.output.seen if isinstance(event.output, Op) else None
    return seen.numbers.get("value") if seen is not None else None


def _constant(batches: list[BatchSeen]) -> Iterator[Finding]:
    """A model that gets a constant input in every call."""
    models: dict[str, list[BatchSeen]] = {}
    for one in batches:
        if one.role == "input":
            models.setdefault(one.to, []).append(one)
    for inputs in models.values():
        first = inputs[0]
        if len(inputs) > 1 and first.spread is not None and all(map(_is_dull, inputs)):
            yield Finding(
                first.at,
                f"{_what(first)} is {first.spread.mean:g} in all its {prod(first.shape)} elements, in each "
                f"of the {len(inputs)} recorded calls, so the model cannot tell samples apart. Check how the "
                "data is read and normalised: look for a buffer that is never filled, or an integer division.",
                level="warning",
                evidence={"value": first.spread.mean, "shape": str(first.shape), "calls": len(inputs)},
            )


def _is_dull(batch: BatchSeen) -> bool:
    """Whether it is a first input of several samples, with the same number everywhere."""
    several = len(batch.shape) > 1 and batch.shape[0] > 1 and prod(batch.shape) > _MANY
    return batch.constant and several and batch.name == "0" and "float" in batch.dtype


def _bad_label(failure: Failure) -> Iterator[Finding]:
    message, name = failure.message, failure.operation
    if name in _OVER_CLASSES and "out of bounds" in message and len(failure.inputs) > 1:
        shape = failure.inputs[0][0]
        classes = shape[1 if len(shape) > 1 else 0] if shape else 0
        low, high = failure.smallest, failure.largest
        between = (
            f"labels lie between {low:g} and {high:g}, and " if low is not None and high is not None else ""
        )
        advice = (
            "They seem to start at 1: subtract 1."
            if low == 1 and high == classes
            else "Give the model one output per class, or set `ignore_index` to the label to skip."
        )
        yield Finding(
            failure.at,
            f"`{name}` gets a label that is out of range: {between}the model has {classes} outputs, for "
            f"classes 0 to {classes - 1}. {advice}",
            evidence={"smallest label": low, "largest label": high, "classes": classes},
        )
    elif name in _OVER_CLASSES and ("expected target dtype" in message or "scalar type Long" in message):
        dtype = failure.inputs[1][1] if len(failure.inputs) > 1 else ""
        yield Finding(
            failure.at,
            f"`{name}` gets labels of {dtype or 'another type'}, but expects class indices. Pass "
            "`target.long()`, or probabilities of the same shape as the prediction.",
            evidence={"target": dtype, "torch says": message},
        )
    elif name == "binary_cross_entropy" and "target should be between 0 and 1" in message:
        yield Finding(
            failure.at,
            "`binary_cross_entropy` gets a target outside of [0, 1]. For several classes use "
            "`cross_entropy`; for two, label them 0 and 1.",
            evidence={"torch says": message},
        )
    elif name.startswith("binary_cross_entropy") and (
        "Found dtype Long" in message or "can't be cast" in message
    ):
        yield Finding(
            failure.at,
            f"`{name}` gets integer labels, but expects floating-point ones. Pass `target.float()`.",
            evidence={"torch says": message},
        )


def _bad_type(failure: Failure, batches: list[BatchSeen]) -> Iterator[Finding]:
    """An operation on the dtype of a batch and the dtype of the weights."""
    message = failure.message
    if not ("dtype" in message or "should be the same" in message or "share same datatype" in message):
        return
    met = {dtype for _, dtype, _ in failure.inputs}
    for one in batches:
        is_odd = one.role == "input" and one.dtype in _ODD_INPUTS and one.dtype not in one.weights
        if is_odd and one.weights and one.dtype in met and len(met) > 1:
            yield Finding(
                one.at,
                f"{_what(one)} is {one.dtype}, and the weights are {' and '.join(one.weights)}, so "
                f"`{failure.text}` raises. Convert it where the data is read, with "
                f"`.to(torch.{one.weights[0]})`.",
                evidence={"input": one.dtype, "weights": ", ".join(one.weights), "torch says": message},
            )
            return
