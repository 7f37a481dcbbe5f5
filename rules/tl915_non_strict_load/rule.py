from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.values import Object, alternatives, constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(StateLoaded, level="info")
def check(loaded: StateLoaded) -> Iterator[Finding]:
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
