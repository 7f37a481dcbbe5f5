from collections.abc import Iterator

from trainlint.facts.api.classes import SOME_MODULE
from trainlint.facts.ask.devices import device_types
from trainlint.facts.ask.placement import homes_of
from trainlint.facts.ask.precision import castings
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, constant
from trainlint.facts.seen.autocast import AutocastSeen
from trainlint.facts.seen.raised import Warned
from trainlint.finding import Because, Finding, Open, Place
from trainlint.rule import rule

SAID = (
    "where this autocast has no effect: the step runs in full precision. Pass the device of the model, as in "
    "`torch.autocast(device.type)`."
)


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding | Open]:
    yield from _run(training) if isinstance(training, Recorded) else _read(training)


def _read(training: Training) -> Iterator[Finding]:
    """Models that the program never moves to the device that autocast is for."""
    found: dict[Place, list[tuple[Object, frozenset[str]]]] = {}
    asked: dict[Place, str] = {}
    for forward in training.events(Forward):
        if not forward.autocast or not isinstance(forward.module, Object):
            continue
        regions = [one.region for one in castings(forward.autocast) if not one.guards]
        region = regions[0] if len(regions) == 1 else None
        if region is None or region.at is None or constant(region.options.get("enabled")) not in (None, True):
            continue
        if region.is_open or ("enabled" in region.options and constant(region.options["enabled"]) is None):
            continue
        kinds = {kind for _, kind in device_types(region.options.get("device_type"))}
        if len(kinds) == 1 and "" not in kinds:
            asked[region.at] = kinds.pop()
            found.setdefault(region.at, []).append(
                (forward.module, homes_of(training, forward.module, forward, unseen=True))
            )
    for at, models in found.items():
        if all(homes and asked[at] not in homes for _, homes in models):
            model, homes = models[0]
            yield Finding(
                at,
                f'Autocast is enabled for "{asked[at]}", but {model.title} stays on '
                f"{' and '.join(sorted(homes))}, {SAID}",
                (Because(model.at, "the model is created here, and never moved there"),) if model.at else (),
                confidence="likely" if all(one.type == SOME_MODULE for one, _ in models) else None,
                doubt="only its moves are in sight, not what the model is",
            )


def _run(recorded: Recorded) -> Iterator[Finding | Open]:
    said: set[Place] = set()
    for forward in recorded.events(Forward):
        for cast in castings(forward.autocast):
            if cast.region.at is not None and constant(cast.region.options.get("available")) is False:
                yield Open(cast.region.at, "what autocast does on a machine that has this device")
    for region in recorded.facts(AutocastSeen):
        if region.enabled and region.models and region.device not in region.models and region.at not in said:
            said.add(region.at)
            yield Finding(
                region.at,
                f'Autocast is enabled for "{region.device}", but the model is on '
                f"{' and '.join(region.models)}, {SAID}",
                evidence={"autocast": region.device, "model": ", ".join(region.models)},
            )
    for warned in recorded.facts(Warned):
        if warned.at is not None and warned.at not in said and _was_disabled(warned.message):
            said.add(warned.at)
            yield Finding(
                warned.at,
                'Autocast is enabled for "cuda", but CUDA is not available here: torch disables autocast, '
                "and the step runs in full precision. Pass the device that the model is on, as in "
                "`torch.autocast(device.type)`.",
                level="warning",
                evidence={"torch says": warned.message},
            )


def _was_disabled(message: str) -> bool:
    return "CUDA is not available" in message and (
        "Disabling autocast" in message or "device_type" in message
    )
