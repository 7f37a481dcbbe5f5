"""Which mode a module is in when it is called, and whether that makes a difference."""

from __future__ import annotations

from trainlint.facts.api.classes import MODULE, SOME_MODULE
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.contents import handed_over, leaves
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.calls import CalledBack
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Items,
    Object,
    Op,
    Table,
    Value,
    alternatives,
)

_DROPOUTS = frozenset(
    f"torch.nn.{name}"
    for name in "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout".split()
)
_NORMS = frozenset(f"torch.nn.{lazy}BatchNorm{n}d" for lazy in ("", "Lazy") for n in (1, 2, 3)) | {
    "torch.nn.SyncBatchNorm"
}
_ATTENTION_LAYERS = {
    "torch.nn.TransformerEncoderLayer": 3,
    "torch.nn.TransformerDecoderLayer": 3,
    "torch.nn.Transformer": 5,
}
"""Layers that drop a tenth if nothing else is said, and where the argument stands that says so."""

_CONTAINERS = (Items, Table, Choice, Carried)
_PRETRAINED = "torchvision.models."
"""Image models: each has batch norm or dropout."""


def layer_with_modes(forward: Forward, module: Object) -> Object | None:
    """A layer of a module, or itself, that certainly does something else in training than in evaluation, and that this
    forward calls as far as one can see."""
    inside = reached([module], _held)
    layers = [one for one in inside if isinstance(one, Object) and _has_modes(one)]
    if not layers:
        return None
    called = _called(forward)
    is_followed = any(one is not module and is_part_of(one, module) for one in called)
    return next((one for one in layers if not is_followed or _is_reached(one, called)), None)


@question(start=False, unknown=False)
def has_unseen_layers(module: Object) -> bool:
    """Whether a module has layers of which nothing is known, so that they may depend on the mode."""
    if module.definition is None:
        return module.type == SOME_MODULE or not module.type.startswith("torch.nn.")
    held = (one for value in module.attributes.values() for one in leaves(value) if one is not module)
    return any(isinstance(one, Object) and one.is_a(MODULE) and has_unseen_layers(one) for one in held)


def is_of_unseen_class(module: Object) -> bool:
    """Whether a class that is not in sight has made a module: it is in training mode then, as any new module. What a function
    returns may be in another."""
    made = made_as(module)
    return isinstance(made, Op) and made.owner is None and made.name.rpartition(".")[2][:1].isupper()


def _called(forward: Forward) -> list[Object]:
    """The modules that what a forward returns went through."""
    return [one.owner for one in made_of(forward.output) if isinstance(one, Op) and one.owner is not None]


def _is_reached(layer: Object, called: list[Object]) -> bool:
    """Whether a layer is called, or held by a module of a library that is, and that may call it."""
    return any(one is layer or (one.definition is None and is_part_of(layer, one)) for one in called)


def _has_modes(layer: Object) -> bool:
    if layer.definition is not None or layer.is_open:
        return False
    if layer.type in _DROPOUTS:
        return _may_be_on(layer.argument(0, "p"))
    if layer.type in _NORMS:
        return _may_be_on(layer.argument(4, "track_running_stats"))
    if layer.type in _ATTENTION_LAYERS:
        return _may_be_on(layer.argument(_ATTENTION_LAYERS[layer.type], "dropout"))
    return layer.type.startswith(_PRETRAINED)


def _may_be_on(value: Value | None) -> bool:
    """Whether an argument is not 0, False or None, a default that a user may change included."""
    return value is None or all(
        not isinstance(one, Constant) or bool(one.value) for one in alternatives(value)
    )


def _held(value: Value) -> list[Value]:
    """The modules in a module, or in a container, and its containers; the first one last."""
    held = value.attributes.values() if isinstance(value, Object) else value.parts()
    return [one for one in reversed(held) if _is_module(one) or isinstance(one, _CONTAINERS)]


def _is_module(value: Value) -> bool:
    return isinstance(value, Object) and value.is_a(MODULE)


def stays_in_training(training: Training, forward: Forward, module: Object) -> bool:
    """Whether a module certainly is in training mode at one of its forwards, and not because that is asked for there.

    Where `train()` stands right before it, with no recorded forward in between, it is on purpose: to drop at random in
    evaluation, or to gather the statistics of batch norm anew.
    """
    if forward.mode is False or (forward.mode is None and _is_elsewhere(training, module)):
        return False
    runs = training.runs(ModeChange, Forward) or [training.events(Forward)]
    found = False
    for run in runs:
        asked = False
        last: ModeChange | None = None
        for event in run:
            if isinstance(event, ModeChange) and _concerns(event, module) is not False:
                last, asked = event, not is_inside(event, forward)
            elif event is forward:
                if last is not None and (
                    last.training is not True or asked or _concerns(last, module) is None
                ):
                    return False
                found = True
            elif _is_call(event, module):
                asked = False
    return found


def switched_on(training: Training, forward: Forward, module: Object) -> ModeChange | None:
    """The `train()` that the program has called before one of a module's forwards, and that is still in force."""
    for run in training.runs(ModeChange, Forward):
        last: ModeChange | None = None
        for event in run:
            if isinstance(event, ModeChange) and _concerns(event, module):
                last = event
            elif event is forward and last is not None:
                return last if last.training is True else None
    return None


def may_be_switched_later(training: Training, forward: Forward, module: Object) -> bool:
    """Whether a forward is in a function that others call later, and a module may be put into evaluation mode until then."""
    if not any(_is_below(forward, one) for one in training.events(CalledBack)):
        return False
    return any(
        one.training is not True and training.is_after(one, forward) and _concerns(one, module) is not False
        for one in training.events(ModeChange)
    )


def _is_below(forward: Forward, called: CalledBack) -> bool:
    return forward.calls[: len(called.calls) + 1] == (*called.calls, called.at)


def switched_inside(training: Training, forward: Forward) -> ModeChange | None:
    """Where a module switches itself to training in its own forward, whatever it was in."""
    return next(
        (
            one
            for one in training.events(ModeChange)
            if one.training is True and one.module is forward.module and is_inside(one, forward)
        ),
        None,
    )


def is_inside(event: Event, forward: Forward) -> bool:
    """Whether something happens in a forward itself."""
    return event.calls[: len(forward.calls) + 1] == (*forward.calls, forward.at)


def _is_call(event: Event, module: Object) -> bool:
    """Whether a module is called while autograd watches."""
    return isinstance(event, Forward) and event.records is True and event.module is module


def _concerns(change: ModeChange, module: Object) -> bool | None:
    """Whether a change of mode is one of this module's, as a whole; None where it may be, or is of a part of it."""
    found: set[bool | None] = set()
    for one in alternatives(change.module):
        if not isinstance(one, Object):
            found.add(None)
        elif is_part_of(module, one):
            found.add(True)
        else:
            found.add(None if is_part_of(one, module) else False)
    return found.pop() if len(found) == 1 else None


def _is_elsewhere(training: Training, module: Object) -> bool:
    """Whether code that is not known is handed a module, or its mode is set by hand."""
    if "training" in module.attributes:
        return True
    return any(
        isinstance(one, Object) and is_part_of(module, one)
        for escape in training.events(Escape)
        for value in escape.values
        for one in handed_over(value)
    )
