from collections.abc import Iterator

from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.model.events import ForwardCalled
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
    for call in training.events(ForwardCalled):
        module = call.module
        if not isinstance(module, Object) or "?" in module.type or training.is_in_test(call.at):
            continue  # what only its use shows may be of another framework
        if has_parameters(module):
            yield Finding(
                call.at,
                f"`forward` of {module.title} is called directly, so its hooks do "
                "not run: pruning, spectral norm, quantisation and feature extractors are silently skipped. "
                "Call the module itself.",
            )
