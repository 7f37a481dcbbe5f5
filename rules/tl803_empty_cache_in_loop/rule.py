from collections.abc import Iterator

from trainlint.facts.api.noted import EMPTY_CACHES
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.ask.host import asks_for_device
from trainlint.facts.ask.measuring import learns_from_nothing
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Unknown, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="warning", refutable=False, by="S", confidence="likely", costs=True)
def check(training: Training) -> Iterator[Finding]:
    for call in training.events(Called):
        if call.name not in EMPTY_CACHES or not call.loops:
            continue
        if not all(asks_for_device(guard) for guard in training.inside_loop(call)):
            continue
        loop = call.loops[-1]
        if _counts(training, loop) and not training.inside(loop, OptimizerStep):
            continue
        if _only_tries(training, loop) or _is_of_epochs(training, loop):
            continue
        if _tries_models(training, loop) or _tries_sizes(training, loop):
            continue
        rounds = [*training.inside(loop, Backward), *training.inside(loop, Drawn)]
        batch = next((one for one in rounds if one.loops[-1] == loop), None)
        if batch is not None:
            yield Finding(
                call.at,
                f"`{call.name}()` after each batch frees cached memory that the next batch allocates again, "
                "and synchronises with the device both times. It frees nothing that torch could not reuse: "
                "remove it, or call it once, between training and something else that needs the memory.",
                (Because(batch.at, "each iteration of this loop is one batch"),),
            )


def _counts(training: Training, loop: int) -> bool:
    """Whether a loop is only over numbers or a list: an iteration may be more than a batch then."""
    over = training.loops[loop].over
    return isinstance(over, Items) or (isinstance(over, Op) and over.name == "range")


def _is_of_epochs(training: Training, loop: int) -> bool:
    """Whether an iteration goes through something with a step, or a pass of its own, for each part: it is an epoch, or a rollout."""
    steps = training.inside(loop, OptimizerStep)
    parts = (*steps, *_passes(training, loop))
    return any(one.loops[-1] != loop and not _counts(training, one.loops[-1]) for one in parts)


def _passes(training: Training, loop: int) -> Iterator[Forward]:
    """Forward passes of models that are trained, not those of the layers in them."""
    forwards = training.inside(loop, Forward)
    around = {(*one.calls, one.at) for one in forwards}
    for one in forwards:
        is_layer = any(one.calls[:count] in around for count in range(1, len(one.calls) + 1))
        is_plain = isinstance(one.module, Object) and has_parameters(one.module) is False
        if one.records and not is_layer and not is_plain:
            yield one


def _only_tries(training: Training, loop: int) -> bool:
    """Whether a `while` draws no batch and takes no step that lasts: it measures, or searches for what fits."""
    is_while = training.loops[loop].over is None
    return is_while and _starts_anew(training, loop) and not training.inside(loop, Drawn)


def _tries_sizes(training: Training, loop: int) -> bool:
    """Whether no step lasts, and all gradients come from tensors that were just made: each iteration measures one."""
    return _starts_anew(training, loop) and learns_from_nothing(training, loop)


def _starts_anew(training: Training, loop: int) -> bool:
    """Whether nothing steps in a loop, or only what each iteration makes for itself."""
    stepped = [one for step in training.inside(loop, OptimizerStep) for one in alternatives(step.optimizer)]
    return all(isinstance(one, Object) and loop in one.loops for one in stepped)


def _tries_models(training: Training, loop: int) -> bool:
    """Whether each iteration has a model of its own, or weights: then it is a trial, and what the last one held is freed."""
    if any(one.name == "torch.load" and one.loops[-1] == loop for one in training.inside(loop, Called)):
        return True
    called = [one for forward in training.inside(loop, Forward) for one in alternatives(forward.module)]
    return any(isinstance(one, (Object, Op, Unknown)) and loop in one.loops for one in called)
