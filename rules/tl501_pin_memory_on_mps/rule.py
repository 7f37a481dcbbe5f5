from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER
from trainlint.facts.ask.devices import may_ask_for_device, names_device, ways_to_be_on
from trainlint.facts.model.events.modules import Built, Moved
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Guards, compatible, ways_to_be
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="warning", confidence="likely", refutable=False)
def check(training: Training) -> Iterator[Finding]:
    moves = [
        (event, (*event.guards, *way))
        for event in training.events(Moved)
        for way in ways_to_be_on(event.device, "mps")
        if not any(outcome and names_device(condition, but="mps") for condition, outcome in event.guards)
    ]
    if not moves:
        return
    for built in training.events(Built):
        loader = built.object
        if not loader.is_a(LOADER):
            continue
        for way in ways_to_be(loader.argument(7, "pin_memory"), True):
            pinned = (*built.guards, *way)
            met = [(event, moved) for event, moved in moves if _can_meet(pinned, moved)]
            if met:
                target = next((event for event, moved in met if not _is_second(event, moved)), None)
                yield Finding(
                    built.at,
                    "`pin_memory=True` has no effect on MPS except a warning, and the device here can be "
                    "MPS. Set it only if the device is CUDA.",
                    (Because((target or met[0][0]).at, "this device can be MPS"),),
                    level=None if target is not None else "info",
                )
                break


def _is_second(moved: Moved, way: Guards) -> bool:
    """Whether the device is MPS only where there is no CUDA: who has that wants pinned memory, and who has not gets the
    warning of torch itself."""
    failed = [condition for condition, outcome in way if not outcome]
    return any(
        (condition, True) in cuda for cuda in ways_to_be_on(moved.device, "cuda") for condition in failed
    )


def _can_meet(pinned: Guards, moved: Guards) -> bool:
    """Whether memory can be pinned while the device is MPS: no condition rules it out, or may do so."""
    return compatible(moved, pinned) and not any(
        may_ask_for_device(condition) for condition, outcome in pinned if (condition, outcome) not in moved
    )
