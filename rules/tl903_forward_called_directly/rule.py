from collections.abc import Iterator

from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.model.events import ForwardCalled
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="warning", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    for call in training.events(ForwardCalled):
        module = call.module
        if isinstance(module, Object) and has_parameters(module) and not training.is_in_test(call.at):
            yield Finding(
                call.at,
                f"`forward` of `{module.type.removeprefix('torch.')}` is called directly, so its hooks do "
                "not run: pruning, spectral norm, quantisation and feature extractors are silently skipped. "
                "Call the module itself.",
            )
