from collections.abc import Iterator

from trainlint.facts.model.events.modules import RegisteredEarly
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(RegisteredEarly, level="error", by="S")
def check(early: RegisteredEarly) -> Iterator[Finding]:
    yield Finding(
        early.at,
        f"`self.{early.attribute}` is set on `{early.module.type}` before `super().__init__()` has run: "
        "torch raises, because the module cannot register it yet. Call `super().__init__()` first.",
    )
