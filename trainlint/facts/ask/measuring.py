"""Programs that train for the sake of the clock alone."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.api.noted import CLOCKS
from trainlint.facts.api.operations import FILLS, FRESH
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.holding import contained
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape, Returned
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import StateTaken
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Unknown, Value, alternatives


def only_measures(training: Training) -> bool:
    """Whether a program reads the clock, and what its models learn can be of no other use."""
    called = {one.name for one in training.events(Called)}
    if called.isdisjoint(CLOCKS) or "torch.save" in called or training.events(StateTaken):
        return False
    return learns_from_nothing(training) or _keeps_nothing(training)


def learns_from_nothing(training: Training, loop: int | None = None) -> bool:
    """Whether all that is trained on, in a loop or anywhere, are tensors that were just made, such as
    `torch.randn(8, 3, 224, 224)`."""
    backwards = training.events(Backward) if loop is None else training.inside(loop, Backward)
    makes = False
    for one in reached((one.loss for one in backwards), _inputs_of):
        match one:
            case Op(name=name) if name in FRESH:
                makes = True
            case Op() if _is_made_like_its_first(one):
                pass
            case Op(name="call", inputs=(_, _, *_)):  # whatever it is that is called
                pass
            case Unknown() | Op(inputs=()) | Op(name="iterate" | "torch.load"):
                return False
            case Op(name=name) if "." in name and not name.startswith("torch."):
                return False
    return makes


def _inputs_of(value: Value) -> Sequence[Value]:
    """What decides whether a value was just made."""
    match value:
        case Op(name=name) if name in FRESH:
            return ()
        case Op(inputs=(first, *_)) if _is_made_like_its_first(value):
            return (first,)
        case Op(name="call", inputs=(_, first, *more)):
            return (first, *more)
    return value.parts()


def _is_made_like_its_first(op: Op) -> bool:
    return bool(op.inputs) and (op.name in KEEPS or op.text.endswith(FILLS))


def _keeps_nothing(training: Training) -> bool:
    """Whether it makes its models itself, and neither tries them out nor hands them on."""
    trained = [
        one
        for step in training.events(OptimizerStep)
        for optimizer in alternatives(step.optimizer)
        for module in modules_held(optimizer)[0]
        for one in alternatives(module)
    ]
    own = {
        one.uid for one in training.objects if one.definition is not None or one.type.startswith("torch.nn.")
    }
    if not trained or not all(one.uid in own for one in trained):
        return False
    return not _are_used(training, {one.uid for one in trained})


def _are_used(training: Training, trained: set[int]) -> bool:
    """Whether models are called for anything but their losses, or reach code that is not seen."""
    losses = [one.loss for one in training.events(Backward)]
    for forward in training.events(Forward):
        is_one = forward.module.uid in trained
        if is_one and not any(is_made_of(loss, forward.output) for loss in losses):
            return True
    given = [value for one in training.events(Escape) for value in one.values]
    given += [one.value for one in training.events(Returned)]
    return any(_holds(one, trained) for value in given for one in handed_over(value))


def _holds(value: Value, wanted: set[int]) -> bool:
    return isinstance(value, Object) and any(one.uid in wanted for one in contained(value))
