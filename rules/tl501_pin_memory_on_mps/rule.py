from collections.abc import Iterator

from trainlint.facts.devices import may_be_on
from trainlint.facts.events import Moved
from trainlint.facts.torch_api import LOADER
from trainlint.facts.training import Training
from trainlint.facts.values import may_be
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
    target = next((event for event in training.events(Moved) if may_be_on(event.device, "mps")), None)
    if target is None:
        return
    for loader in training.objects:
        if loader.is_a(LOADER) and loader.at is not None and may_be(loader.argument(7, "pin_memory"), True):
            yield Finding(
                loader.at,
                "`pin_memory=True` does nothing on MPS but warn, and the device here can be MPS. Set it only where the "
                "device is CUDA.",
                (Because(target.at, "this device can be MPS"),),
            )
