from collections.abc import Iterator

from trainlint.facts.api.second_names import DEPRECATED_AMP
from trainlint.facts.model.events.calls import LibraryCall
from trainlint.finding import Finding, Versions
from trainlint.rule import rule

_DEPRECATED = Versions(since=(2, 4))


@rule(LibraryCall, level="warning", refutable=False)
def check(call: LibraryCall) -> Iterator[Finding]:
    if call.name in DEPRECATED_AMP and not call.is_fallback:
        yield Finding(
            call.at,
            f"`{call.name}` is deprecated since torch 2.4 and will be removed. Write `{DEPRECATED_AMP[call.name]}`.",
            torch=_DEPRECATED,
            clues={"name": call.name},
        )
