from collections.abc import Iterator

from trainlint.facts.events import LibraryCall
from trainlint.facts.torch_api import DEPRECATED_VARIABLE
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(LibraryCall, level="warning", refutable=False, by="S")
def check(call: LibraryCall) -> Iterator[Finding]:
    if call.name in DEPRECATED_VARIABLE and not call.is_fallback:
        yield Finding(
            call.at,
            "a tensor has been a `Variable` since torch 0.4: this wraps it for nothing, `volatile=True` has no effect, "
            "and a tensor with a graph loses it here. Use the tensor itself.",
        )
