import math
from collections.abc import Iterator

from trainlint.facts.ask.evidence import held, numbers_of, shown
from trainlint.facts.ask.paths import ways
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Constant, Op, Value
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.non_finite import ZEROS, NonFinite
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.scalers import ScalerSeen
from trainlint.finding import Because, Finding
from trainlint.rule import rule

STEEP = frozenset(("sqrt", "norm", "vector_norm", "std", "acos", "asin", "cdist", "**", "log", "/", "atan2"))
"""Operations whose derivative is infinite or undefined somewhere, where the result is not."""
MOST_VALUES = 100_000


@rule(Recorded, level="error", by="T")
def check(run: Recorded) -> Iterator[Finding]:
    if any(event.scaler is not None for event in run.events(OptimizerStep)) or run.facts(ScalerSeen):
        return  # a scaler tries scales that are too high, and skips those steps
    judged = [one for one in held(run) if one.gradient is not None or one.broken]
    broken = [one for one in judged if one.gradient is not None and one.gradient.non_finite]
    backward = _broken_loss(run, before_any_step=True) or (None if broken else _broken_loss(run))
    if not broken and backward is None:
        yield from _mended(run, [one for one in judged if one.broken])
        return
    evidence: dict[str, object] = {
        "parameters with NaN or infinity in their gradient": len(broken),
        "parameters with a gradient": len(judged),
    }
    if broken:
        evidence["elements"] = sum(one.gradient.non_finite for one in broken if one.gradient is not None)
        first = max(broken, key=lambda one: -1 if one.order is None else one.order)
        evidence["nearest the loss"] = first.name
    if backward is not None:
        yield _from_forward(run, backward, evidence)
    elif broken:
        yield from _from_backward(run, broken, evidence)


def _from_forward(run: Recorded, backward: Backward, evidence: dict[str, object]) -> Finding:
    """The loss itself is NaN or infinite: an earlier operation returned that for finite inputs."""
    value = numbers_of(backward.loss).get("value", math.nan)
    evidence["loss"] = str(value)
    origin = _origin(backward.loss)
    start = Because(backward.at, f"the loss is {value} here")
    if origin is not None and origin.at is not None:
        if origin.seen is not None:
            evidence["shape"] = shown(origin.seen.shape)
        evidence["operation"] = origin.name
        where = _module(run, origin)
        return Finding(
            origin.at,
            f"`{origin.text}`{where} is the first operation to return {_kind(value)} for finite inputs, and "
            f"the loss is {value}: all gradients before it are lost, and one step with them ruins the model. "
            "Check its inputs.",
            (start,),
            subject=_path(run, origin),
            evidence=evidence,
        )
    batch = next(
        (one for one in run.facts(BatchSeen) if one.spread is not None and one.spread.non_finite), None
    )
    if batch is not None and batch.spread is not None:
        evidence["NaN or infinities in the batch"] = batch.spread.non_finite
    return Finding(
        backward.at,
        f"The loss is {value}, so all gradients are lost, and one step with them ruins the model."
        + (
            f" The {batch.role} already contains {batch.spread.non_finite} such values."
            if batch and batch.spread
            else ""
        ),
        (Because(batch.at, "they enter the model here"),) if batch is not None else (),
        evidence=evidence,
    )


def _from_backward(
    run: Recorded, broken: list[ParameterSeen], evidence: dict[str, object]
) -> Iterator[Finding]:
    """The loss is finite and gradients are not: a derivative is infinite, or a value overflows in the backward pass."""
    first = max(broken, key=lambda one: -1 if one.order is None else one.order)
    optimizer = next((one for one in run.facts(OptimizerSeen) if one.number in first.optimizers), None)
    only = _steep(run, broken)
    at = first.at or (optimizer.step_at if optimizer is not None else None) or run.events(Backward)[0].at
    because = [Because(run.events(Backward)[0].at, "the loss is finite here")]
    if only is not None and only.at is not None:
        evidence["operation"] = only.name
        because.insert(0, Because(only.at, f"`{only.text}` has no finite derivative somewhere, such as at 0"))
    yield Finding(
        at,
        f"The gradient of `{first.name}` contains NaN or infinity while the loss is finite: one step with it "
        "ruins the model. Keep the inputs of square roots, norms, logarithms and divisions away from 0, also "
        "where a mask hides the result.",
        tuple(because),
        subject=first.name,
        evidence=evidence,
    )


def _mended(run: Recorded, broken: list[ParameterSeen]) -> Iterator[Finding]:
    """A backward pass gave NaN, and the program left that step out, or put other numbers in their place."""
    if not broken or not run.events(Backward):
        return
    only, backward = _steep(run, broken), run.events(Backward)[0]
    at = only.at if only is not None and only.at is not None else backward.at
    what = (
        f"`{only.text}` is 0 for some inputs, where it has no finite derivative: " if only is not None else ""
    )
    yield Finding(
        at,
        f"{what or 'A derivative is infinite somewhere: '}`backward()` gives NaN or infinity for some batches. The program "
        "leaves out these steps, or replaces what is not finite, so such batches teach nothing. Keep the inputs of square "
        "roots, norms, logarithms and divisions away from 0.",
        (Because(backward.at, "gradients are computed here"),) if at != backward.at else (),
        level="warning",
        evidence={
            "parameters with NaN or infinity in their gradient": len(broken),
            "elements": sum(one.broken for one in broken),
        },
    )


def _steep(run: Recorded, broken: list[ParameterSeen]) -> Op | None:
    """The one operation without a finite derivative that a broken gradient came through: one that was seen to be there, or
    the only one that could."""
    between = ways(run).between([one.value for one in broken[:1] if one.value is not None])
    steep = {op.at: op for op in between if op.name in STEEP and op.at is not None and op.attached}
    at_zero = [op for op in steep.values() if numbers_of(op).get(ZEROS)]
    found = at_zero or list(steep.values())
    return found[0] if len(found) == 1 else None


def _broken_loss(run: Recorded, before_any_step: bool = False) -> Backward | None:
    """The first backward whose loss is NaN or infinite."""
    for event in run.events(Event):
        if isinstance(event, OptimizerStep) and before_any_step:
            return None
        if isinstance(event, Backward) and _is_broken(event.loss):
            return event
    return None


def _is_broken(loss: Value) -> bool:
    value = numbers_of(loss).get("value")
    return value is not None and not math.isfinite(value)


def _origin(loss: Value) -> Op | None:
    """The first operation whose result is not finite although all its inputs are. Tensors that are built from numbers
    alone are none: an infinity in a mask is meant."""
    pending = [loss]
    seen = {loss.uid}
    for value in pending:
        is_first = numbers_of(value).get("made of finite numbers") == 1.0 and not any(
            numbers_of(part).get("not finite") for part in value.parts()
        )
        if isinstance(value, Op) and is_first and value.at is not None and any(_are_tensors(value)):
            return value
        for part in value.parts():
            if _may_be_broken(part) and part.uid not in seen and len(seen) < MOST_VALUES:
                seen.add(part.uid)
                pending.append(part)
    return None


def _are_tensors(op: Op) -> Iterator[bool]:
    """Of each input, whether it is a tensor, or may hold some."""
    return (not isinstance(one, Constant) for one in op.inputs)


def _may_be_broken(value: Value) -> bool:
    """Whether a value contained NaN or infinities, or was not checked separately."""
    if not isinstance(value, Op) or value.seen is None or value.name == "output":
        return True
    is_one_of_several = (
        bool(value.inputs) and isinstance(value.inputs[0], Op) and value.inputs[0].seen is None
    )
    return is_one_of_several or bool(numbers_of(value).get("not finite"))


def _kind(value: float) -> str:
    return "NaN" if math.isnan(value) else "infinity"


def _path(run: Recorded, origin: Op) -> str | None:
    found = {one.module for one in run.facts(NonFinite) if one.at == origin.at and one.module}
    return found.pop() if len(found) == 1 else None


def _module(run: Recorded, origin: Op) -> str:
    path = _path(run, origin)
    return f" in `{path}`" if path else ""
