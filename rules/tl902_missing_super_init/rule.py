from collections.abc import Iterator

from trainlint.facts.model.events.modules import RegisteredEarly
from trainlint.facts.model.training import Training
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="error", confidence="likely", by="S")
def check(training: Training) -> Iterator[Finding]:
    raised: set[int] = set()
    for early in training.events(RegisteredEarly):
        if early.module.uid in raised:
            continue  # the program has ended, or is mended by the same call
        raised.add(early.module.uid)
        yield Finding(
            early.at,
            f"`self.{early.attribute}` is set on `{early.module.type}` before `super().__init__()` has run: "
            "torch raises, because the module cannot register it yet. Call `super().__init__()` first.",
        )
