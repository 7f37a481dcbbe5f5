from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.model.events.modules import StateLoaded, StateTaken
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, alternatives, constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="info", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    for loaded in training.events(StateLoaded):
        if not _is_matched(training, loaded):
            yield from _judged(loaded)


def _is_matched(training: Training, loaded: StateLoaded) -> bool:
    """Whether the names that the model has are asked for in the same function, to choose what is loaded."""
    targets = {one.uid for one in alternatives(loaded.target)}
    return any(
        taken.calls == loaded.calls
        and isinstance(taken.output, Op)
        and taken.output.owner is not None
        and taken.output.owner.uid in targets
        and training.is_after(loaded, taken)
        for taken in training.events(StateTaken)
    )


def _judged(loaded: StateLoaded) -> Iterator[Finding]:
    targets = list(alternatives(loaded.target))
    if constant(loaded.strict) is not False or not loaded.result.is_ignored:
        return
    if any(isinstance(one, Object) and not one.is_a(MODULE) for one in targets) or not targets:
        return
    evidence = {}
    if loaded.missing is not None and loaded.unexpected is not None:
        if not loaded.missing and not loaded.unexpected:
            return
        evidence = {"keys not in the file": loaded.missing, "keys not in the model": loaded.unexpected}
    yield Finding(
        loaded.at,
        "`strict=False` skips every key that does not match, and the result is not checked: if the names "
        "differ by a prefix, nothing is loaded at all. Check the `missing_keys` and `unexpected_keys` that "
        "it returns.",
        evidence=evidence,
    )
