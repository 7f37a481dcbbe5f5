from collections.abc import Iterator

from trainlint.facts.model.events.forwards import Forward, ForwardCalled
from trainlint.facts.model.events.modules import Built, SetEarly
from trainlint.facts.model.training import Training
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="error", confidence="likely", by="S")
def check(training: Training) -> Iterator[Finding]:
    never = _called_without(training)
    raised: set[int] = set()
    for early in training.events(SetEarly):
        uid = early.module.uid
        if uid in raised or not (early.registers or uid in never):
            continue  # the program has ended, or is mended by the same call
        raised.add(uid)
        yield Finding(
            early.at,
            _refused(early) if early.registers else _called(early),
        )


def _called_without(training: Training) -> set[int]:
    """The modules that are called although `nn.Module.__init__` has never run on them."""
    raw = {built.object.uid for built in training.events(Built) if built.is_raw}
    as_methods = {called.at for called in training.events(ForwardCalled)} if raw else set()
    return {
        called.module.uid
        for called in training.events(Forward)
        if called.module.uid in raw and called.at not in as_methods
    }


def _refused(early: SetEarly) -> str:
    return (
        f"`self.{early.attribute}` is set on `{early.module.type}` before `super().__init__()` has run: "
        "torch raises, because the module cannot register it yet. Call `super().__init__()` first."
    )


def _called(early: SetEarly) -> str:
    return (
        f"The constructor of `{early.module.type}` never calls `super().__init__()`: torch raises at the first call "
        "of the module, because it has no hooks yet. Call `super().__init__()` first."
    )
