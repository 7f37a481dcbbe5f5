from collections.abc import Iterator
from typing import Any

from trainlint.facts.devices import ways_to_be_on
from trainlint.facts.events import Built, Moved
from trainlint.facts.torch_api import LOADER
from trainlint.facts.training import Training
from trainlint.facts.values import Guards, compatible, ways_to_be
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_DEVICES = frozenset(("cuda", "mps", "cpu", "xpu", "gpu"))


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
    moves = [
        (event, (*event.guards, *way))
        for event in training.events(Moved)
        for way in ways_to_be_on(event.device, "mps")
    ]
    if not moves:
        return
    for built in training.events(Built):
        loader = built.object
        if not loader.is_a(LOADER):
            continue
        for way in ways_to_be(loader.argument(7, "pin_memory"), True):
            pinned = (*built.guards, *way)
            target = next((event for event, moved in moves if _can_meet(pinned, moved)), None)
            if target is not None:
                yield Finding(
                    built.at,
                    "`pin_memory=True` does nothing on MPS but warn, and the device here can be MPS. Set it only where "
                    "the device is CUDA.",
                    (Because(target.at, "this device can be MPS"),),
                )
                break


def _can_meet(pinned: Guards, moved: Guards) -> bool:
    """Whether memory can be pinned while the device is MPS: no condition rules it out, or may do so."""
    return compatible(moved, pinned) and not any(
        _may_ask_for_device(condition) for condition, outcome in pinned if (condition, outcome) not in moved
    )


def _may_ask_for_device(condition: Any) -> bool:
    """Whether a condition names a device, or is some value, such as that of `torch.cuda.is_available()`."""
    match condition:
        case ("value", _):
            return True
        case ("and" | "or" | "not", *parts):
            return any(_may_ask_for_device(part) for part in parts)
        case ("==" | "in", *operands):
            return any(_names_device(operand) for operand in operands)
    return False


def _names_device(operand: Any) -> bool:
    match operand:
        case ("constant", str(text)):
            return text.strip("'\"").partition(":")[0] in _DEVICES
    return False
