from collections.abc import Iterator

from trainlint.facts.attachment import has_parameters
from trainlint.facts.events import ForwardCalled
from trainlint.facts.values import Object
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(ForwardCalled, level="warning")
def check(call: ForwardCalled) -> Iterator[Finding]:
    module = call.module
    if isinstance(module, Object) and has_parameters(module):
        yield Finding(
            call.at,
            f"`forward` of `{module.type.removeprefix('torch.')}` is called as a method, so none of its hooks runs: "
            "pruning, spectral norm, quantisation and whatever collects its features are left out in silence. Call the "
            "module itself.",
        )
