from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.values import Object, alternatives, constant
from trainlint.finding import Finding
from trainlint.rule import rule

_FEW = 0.1
"""The share of keys up to which what fits is chance, such as a counter of one layer."""


@rule(StateLoaded, level="error", by="T")
def check(loaded: StateLoaded) -> Iterator[Finding]:
    known = (loaded.keys, loaded.missing, loaded.unexpected)
    if constant(loaded.strict) is not False or any(one is None for one in known):
        return
    keys, missing, unexpected = (one or 0 for one in known)
    if not all(isinstance(one, Object) and one.is_a(MODULE) for one in alternatives(loaded.target)):
        return
    matched = keys - unexpected
    if not keys or not missing or matched > _FEW * keys or matched > _FEW * (matched + missing):
        return
    share = "None" if not matched else f"Only {matched}"
    yield Finding(
        loaded.at,
        f"{share} of the {keys} keys of this state fit any of the {matched + missing} of the model, and `strict=False` "
        "skips the others: the weights are still what they were. Rename the keys, for example by removing a prefix such "
        "as `module.`, until `strict=True` passes or only what you expect is missing.",
        evidence={
            "keys of the state": keys,
            "keys of the model": matched + missing,
            "keys that fit": matched,
        },
    )
