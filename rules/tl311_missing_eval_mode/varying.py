"""What in a module does something else in training than in evaluation."""

from __future__ import annotations

from typing import NamedTuple

from trainlint.facts.api.classes import DETECTORS, MODULE, SOME_MODULE
from trainlint.facts.api.layers import MODE_DEPENDENT_IF
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.contents import leaves
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.ask.modes import drops_by_mode, has_levels, is_graph_layer_without_modes
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.forwards import Dropped, Forward
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
from trainlint.finding import Place

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
WHOLE_MODELS = "torchvision.models."
"""Image models: each has batch norm or dropout. Of a detector, only training mode gives a loss, so none is asked to leave it."""


class Varying(NamedTuple):
    """What in a forward does something else in training than in evaluation: a layer, or a function that is told the mode.

    Args:
        holder: the module whose mode decides: the layer, or the module in whose forward the function is called.
        shown: what a message calls it.
        is_norm: whether it is batch norm.
        at: where the layer is created, or the function is called.
    """

    holder: Object
    shown: str
    is_norm: bool
    at: Place | None


def varying(training: Training, forward: Forward, module: Object) -> list[Varying]:
    """What certainly depends on the mode of a module or of its parts in a forward of it, as far as one can see."""
    layers = [
        Varying(one, one.type.removeprefix("torch."), "BatchNorm" in one.type, one.at)
        for one in _layers_with_modes(forward, module)
    ]
    functions = [
        Varying(_seen_holder(one, module), f"F.{one.function}", is_norm=False, at=one.at)
        for one in drops_by_mode(training, forward)
    ]
    return layers + functions


def _seen_holder(dropped: Dropped, module: Object) -> Object:
    """The part that asks for its mode; the whole model where the part is not seen to belong to it, as in a loop over layers."""
    return dropped.module if is_part_of(dropped.module, module) else module


def _layers_with_modes(forward: Forward, module: Object) -> list[Object]:
    """Layers of a module, or itself, that depend on the mode, and that a forward calls as far as one can see."""
    inside = reached([module], _held)
    layers = [one for one in inside if isinstance(one, Object) and _has_modes(one)]
    called = _called(forward) if layers else []
    is_followed = any(one is not module and is_part_of(one, module) for one in called)
    return [one for one in layers if not is_followed or _is_reached(one, called)]


@question(start=False, unknown=False)
def has_unseen_layers(module: Object) -> bool:
    """Whether a module has layers of which nothing is known, so that they may depend on the mode."""
    if module.definition is None:
        is_torchs = module.type.startswith("torch.nn.") and module.type != SOME_MODULE
        is_detector = module.type.startswith(DETECTORS)
        return not is_torchs and not is_detector and not is_graph_layer_without_modes(module)
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
    name = layer.type.removeprefix("torch.nn.")
    if name.startswith("InstanceNorm"):
        return False  # in training mode it normalises each sample by itself, and drops nothing: many models are meant so
    if name in MODE_DEPENDENT_IF:
        asked = layer.argument(*MODE_DEPENDENT_IF[name])
        return asked is not None and _may_be_on(asked) and has_levels(layer)
    return layer.type.startswith(WHOLE_MODELS) and not layer.type.startswith(DETECTORS)


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
