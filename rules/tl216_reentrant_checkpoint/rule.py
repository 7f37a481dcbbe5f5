from collections.abc import Iterator

from trainlint.facts.api.gradients import CHECKPOINTS
from trainlint.facts.ask.guards import needs_option
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.training import Training
from trainlint.finding import Finding, Versions
from trainlint.rule import rule

_HAS_BOTH = Versions(since=(1, 11))
"""Versions that know `use_reentrant`."""


@rule(Training, level="warning", refutable=False, words="checkpoint checkpoint_sequential")
def check(training: Training) -> Iterator[Finding]:
    for call in training.events(Called):
        if call.name in CHECKPOINTS and not call.is_open and "use_reentrant" not in call.options:
            yield Finding(
                call.at,
                f"`{call.name.rpartition('.')[2]}` without `use_reentrant` uses the reentrant variant, which "
                "returns no gradients if no input requires grad; torch warns, and will raise in a later version. "
                + _advice(call),
                level="info" if _is_off(training, call) else None,
                torch=_HAS_BOTH,
                clues={"calls_nothing_else": not call.is_chosen},
            )


def _is_off(training: Training, call: Called) -> bool:
    """Whether it only happens with an option that is off by default, and that nothing in sight switches on, but for tests."""
    return training.is_test or (training.entry != "program" and needs_option(call.guards))


def _advice(call: Called) -> str:
    if call.is_chosen:  # another function that is called here does not know the argument
        return "Where the function is chosen, write `functools.partial(checkpoint, use_reentrant=False)`."
    return "Pass `use_reentrant=False`."
