from collections.abc import Iterator

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.autocast import AutocastSeen
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.scalers import ScalerSeen
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_NORMAL = 2.0**-14
"""The smallest normal float16; 2⁻²⁴ is the smallest subnormal."""
_LOST = 0.2
"""Share of exact zeros that counts as loss, in a gradient whose largest element is that small."""
_AFFECTED = 0.25
"""Share of the weights that must have lost as much."""
_ELEMENTS = 64
_HALVINGS = 16
"""Skipped steps after which the initial scale of a scaler is down to 1."""


@rule(Recorded, level="warning", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    scalers = recorded.facts(ScalerSeen)
    for scaler in scalers:
        never = _HALVINGS <= scaler.skipped == scaler.steps
        if scaler.at is not None and scaler.last < scaler.first and (never or scaler.last < 1):
            yield _falling(scaler)
    half = [one for one in recorded.facts(AutocastSeen) if one.enabled and one.dtype == "float16"]
    if not half:
        return
    scale = max((one.first for one in scalers), default=1.0)
    parameters = recorded.facts(ParameterSeen)
    for optimizer in recorded.facts(OptimizerSeen):
        at = optimizer.step_at or optimizer.at
        weights = [one for one in parameters if optimizer.number in one.optimizers and _counts(one)]
        lost = [one for one in weights if _is_flushed(one, scale)]
        if at is None or not lost or len(lost) < _AFFECTED * len(weights):
            continue
        worst = max(lost, key=lambda one: one.gradient.zeros if one.gradient else 0.0)
        zeros = worst.gradient.zeros if worst.gradient else 0.0
        advice = (
            "Scale the loss with a `GradScaler`, or use bfloat16."
            if scale == 1
            else "Give the scaler a higher `init_scale`, or use bfloat16."
        )
        yield Finding(
            at,
            f"Gradients underflow in float16: {zeros:.0%} of the elements of the gradient of `{worst.name}` "
            f"are exactly 0, and the rest have lost precision. {advice}",
            (Because(half[0].at, "float16 is selected here"),),
            subject=worst.name,
            evidence={
                "exact zeros": zeros,
                "largest gradient, scaled": (worst.gradient.largest if worst.gradient else 0.0) * scale,
                "smallest normal float16": _NORMAL,
                "scale": scale,
                "weights": f"{len(lost)} of {len(weights)}",
            },
        )


def _counts(one: ParameterSeen) -> bool:
    """Whether it is a float32 weight that a layer has used; rows of a table that were not looked up are 0 anyway."""
    elements = 1
    for size in one.shape:
        elements *= size
    return (
        len(one.shape) > 1
        and elements >= _ELEMENTS
        and one.dtype == "float32"
        and "Embedding" not in one.module_type
        and one.gradient is not None
        and not one.gradient.non_finite
        and one.gradient.norm > 0
    )


def _is_flushed(one: ParameterSeen, scale: float) -> bool:
    seen = one.gradient
    return seen is not None and seen.largest * scale < _NORMAL and seen.zeros >= _LOST


def _falling(scaler: ScalerSeen) -> Finding:
    assert scaler.at is not None
    return Finding(
        scaler.at,
        f"This scaler skipped {scaler.skipped} of {scaler.steps} steps, and its scale fell from "
        f"{scaler.first:g} to {scaler.last:g}: gradients are infinite or NaN at any scale, so the overflow "
        "is not caused by the scale. Compute what overflows in float32, or use bfloat16.",
        evidence={
            "skipped": scaler.skipped,
            "steps": scaler.steps,
            "first scale": scaler.first,
            "last scale": scaler.last,
        },
    )
