from collections.abc import Iterator

from trainlint.facts.api.classes import SOME_MODULE
from trainlint.facts.api.noted import ADDS_HOOKS, REGISTERS_HOOKS
from trainlint.facts.api.wrappers import PREFIXES
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.ask.made_up import is_made_up
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.forwards import ForwardCalled
from trainlint.facts.model.events.modules import Wrapped
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
    has_hooks = _has_hooks(training)
    for call in training.events(ForwardCalled):
        module = call.module
        if not isinstance(module, Object) or module.type == SOME_MODULE or training.is_in_test(call.at):
            continue  # what only its use shows may be of another framework
        if has_parameters(module) and not _is_trial(training, call):
            yield Finding(
                call.at,
                f"`forward` of {module.title} is called directly, so its hooks do "
                "not run: pruning, spectral norm, quantisation and feature extractors are silently skipped. "
                "Call the module itself.",
                level=None if has_hooks else "info",
            )


def _has_hooks(training: Training) -> bool:
    """Whether the program registers hooks, or makes use of what does: `fully_shard`, `torch.compile`, pruning. All that
    `DataParallel` does on several devices is done in its own `forward`, and in hooks of parameters."""
    is_wrapped = any(one.name not in PREFIXES for one in training.events(Wrapped))
    return is_wrapped or any(
        one.name in REGISTERS_HOOKS or one.name.startswith(ADDS_HOOKS) for one in training.events(Called)
    )


def _is_trial(training: Training, call: ForwardCalled) -> bool:
    """Whether a model is only tried out: on tensors made for that, and nothing is learned from the result."""
    if not call.inputs or not all(map(is_made_up, call.inputs)):
        return False
    return not any(is_made_of(one.loss, given) for one in training.events(Backward) for given in call.inputs)
