from collections.abc import Iterator

from trainlint.facts.api.classes import SCALER
from trainlint.facts.ask.precision import Casting, casts_of, scaling
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, constant
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding | Open]:
    casts: dict[int, list[Casting]] = {}
    scalers: dict[int, Object] = {}
    plain: set[int] = set()
    for backward in training.events(Backward):
        for scale in scaling(backward.loss):
            scaler = scale.owner
            if scaler is None or not scaler.is_a(SCALER):
                continue
            scalers[scaler.uid] = scaler
            found = list(casts_of(backward.loss, backward.guards))
            casts.setdefault(scaler.uid, []).extend(found)
            if not found:
                plain.add(scaler.uid)
    for number, scaler in scalers.items():
        regions = casts[number]
        if number in plain or scaler.at is None or {one.dtype for one in regions} != {"bfloat16"}:
            if scaler.at is not None and any(not one.dtype for one in regions):
                yield Open(scaler.at, "in which type autocast computes")
            continue
        if not _is_on(scaler, regions):
            continue
        places = dict.fromkeys(one.region.at for one in regions)
        yield Finding(
            scaler.at,
            "This scaler scales losses that are computed in bfloat16, which has the range of float32, so "
            "gradients do not underflow: each step only pays for unscaling and the check for infinities, and "
            "is skipped where the scaled loss overflows. Remove the scaler, or enable it (`enabled=`) only "
            "for float16.",
            tuple(Because(at, "autocast computes in bfloat16 here") for at in places if at is not None),
            evidence={"autocast": "bfloat16"} if isinstance(training, Recorded) else {},
        )


def _is_on(scaler: Object, regions: list[Casting]) -> bool:
    """Whether a scaler is enabled wherever these regions are."""
    enabled = scaler.argument(5, "enabled")
    if enabled is None:
        return not scaler.is_open
    if constant(enabled) is True:
        return True
    return all(enabled is one.region.options.get("enabled") for one in regions)
