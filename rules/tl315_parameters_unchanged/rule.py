from collections.abc import Iterator, Sequence
from itertools import groupby

from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding, Place
from trainlint.rule import rule

_RESOLUTION = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
"""The smallest relative change of 1 that is not rounded away."""
_HALF = ("float16", "bfloat16")
_MULTIPLIES = frozenset("StepLR MultiStepLR ExponentialLR PolynomialLR ReduceLROnPlateau".split())
"""Schedulers that multiply the current rate, so that 0 stays 0."""
_OF_BASE = frozenset("LambdaLR LinearLR ConstantLR".split())
"""Schedulers that multiply the rate which the optimizer was given: 0 now may be the start of a warm-up."""


@rule(Recorded, level="error", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    parameters = recorded.facts(ParameterSeen)
    for optimizer in recorded.facts(OptimizerSeen):
        at = optimizer.step_at or optimizer.at
        if at is None or not optimizer.steps or optimizer.type.endswith("LBFGS"):
            continue
        mine = [one for one in parameters if optimizer.number in one.optimizers and _has_gradient(one)]
        if mine and not any(optimizer.learning_rates) and all(one.rate == 0 for one in mine):
            if optimizer.stays_at_0:
                yield _without_rate(at, mine, "the schedule gives 0 for the next steps too")
            elif not _is_scheduled(recorded, optimizer):
                yield _without_rate(at, mine, "no scheduler raises it")
            continue
        without = [one for one in mine if one.rate == 0]
        if without and _are_computed(optimizer.learning_rates) and not _is_scheduled(recorded, optimizer):
            yield _partly_without_rate(at, without, mine)
        still = [one for one in mine if one.unchanged and one.rate and len(one.optimizers) == 1]
        for is_half, some in groupby(
            sorted(still, key=lambda one: one.dtype in _HALF), key=lambda one: one.dtype in _HALF
        ):
            found = [one for one in some if is_half or _should_have_moved(one)]
            if found:
                yield (_rounded if is_half else _ignored)(at, found, mine)


def _are_computed(rates: Sequence[float]) -> bool:
    """Whether several param groups have a rate of 0, beside others: one may be held still on purpose."""
    return any(rates) and list(rates).count(0) > 1


def _has_gradient(one: ParameterSeen) -> bool:
    seen = one.gradient
    return one.trainable and one.stepped and seen is not None and seen.norm > 0 and not seen.non_finite


def _is_scheduled(recorded: Recorded, optimizer: OptimizerSeen) -> bool:
    """Whether there is a scheduler that may raise a rate of 0."""
    base_is_0 = bool(optimizer.base_rates) and not any(optimizer.base_rates)
    cannot = _MULTIPLIES | _OF_BASE if base_is_0 else _MULTIPLIES
    return any(
        "lr_scheduler" in base and built.object.type.rpartition(".")[2] not in cannot
        for built in recorded.events(Built)
        for base in built.object.bases
    )


def _should_have_moved(one: ParameterSeen) -> bool:
    """Whether its update is large enough for its dtype."""
    if one.gradient is None or one.start is None or one.rate is None:
        return False
    largest = max(abs(one.start.smallest), abs(one.start.largest))
    wanted = one.rate * min(one.gradient.largest, 1.0)
    return wanted > 10 * largest * _RESOLUTION.get(one.dtype, 1.0) and wanted > 1e-30


def _without_rate(at: Place, mine: list[ParameterSeen], ahead: str) -> Finding:
    return Finding(
        at,
        f"This step changes no parameter: the learning rate is 0 in every param group, and {ahead}. Look for an "
        "integer division or a missing setting where the rate is computed.",
        subject=mine[0].name if len(mine) == 1 else None,
        evidence={"learning rate": 0.0, "parameters": len(mine)},
    )


def _partly_without_rate(at: Place, without: list[ParameterSeen], mine: list[ParameterSeen]) -> Finding:
    return Finding(
        at,
        f"{_names(without)} have gradients, and a learning rate of 0 that no scheduler raises: this step never changes them. "
        "Look for an integer division where the rates of the param groups are computed; to freeze them, set "
        "`requires_grad_(False)`.",
        level="warning",
        subject=without[0].name,
        evidence={"learning rate": 0.0, "parameters": len(without), "of": len(mine)},
    )


def _rounded(at: Place, found: list[ParameterSeen], mine: list[ParameterSeen]) -> Finding:
    first = found[0]
    rate = first.rate or 0.0
    return Finding(
        at,
        f"{_names(found)} have gradients and are bit-identical after this step: with a learning rate of "
        f"{rate:.3g} the updates are too small for {first.dtype} and are rounded away every time. Keep the "
        "weights in float32 and compute in half precision with `torch.autocast`.",
        subject=first.name,
        evidence=_numbers(found, mine),
    )


def _ignored(at: Place, found: list[ParameterSeen], mine: list[ParameterSeen]) -> Finding:
    return Finding(
        at,
        f"{_names(found)} have gradients and a learning rate, and are bit-identical after this step: the optimizer does "
        "not write to them. Its `step` must change parameters in place, as in `p.add_(update, alpha=-lr)`.",
        subject=found[0].name,
        evidence=_numbers(found, mine),
    )


def _names(found: list[ParameterSeen]) -> str:
    rest = len(found) - 1
    return f"`{found[0].name}`" + (f" and {rest} more" if rest else "")


def _numbers(found: list[ParameterSeen], mine: list[ParameterSeen]) -> dict[str, float | str]:
    first = found[0]
    return {
        "unchanged": len(found),
        "of": len(mine),
        "gradient norm": first.gradient.norm if first.gradient is not None else 0.0,
        "learning rate": first.rate or 0.0,
        "dtype": first.dtype,
    }
