"""New layers that are frozen together with the model whose old ones they replace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.layers import WITH_PARAMETERS
from trainlint.facts.ask.freezing import may_belong
from trainlint.facts.ask.holding import contained, is_part_of, module_of
from trainlint.facts.model.events.modules import Built, ModuleChanged
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, constant
from trainlint.finding import Place


class FrozenHead(NamedTuple):
    """A layer that keeps its random weights.

    Args:
        at: where it is frozen.
        is_trained: whether an optimizer steps in sight.
    """

    at: Place
    layer: Object
    is_trained: bool


def frozen_head(training: Training) -> FrozenHead | None:
    """A layer that was put into a library's model before all of that was frozen, and that stays frozen."""
    is_trained = bool(training.events(OptimizerStep))
    changes = training.events(RequiresGrad)
    for change in changes:
        model = module_of(change.target)
        if model is None or constant(change.wanted) is not False or not _is_of_library(model):
            continue
        later = [one for one in changes if one is not change and training.is_after(one, change)]
        thaws = [one for one in later if constant(one.wanted) is not False]
        for layer in _put_in(training, model, change):
            if any(may_belong(one.target, (layer,)) and not _is_of_others(one, layer) for one in thaws):
                continue
            if is_trained or thaws:
                return FrozenHead(change.at, layer, is_trained)
    return None


def _is_of_library(model: Object) -> bool:
    return model.definition is None and model.is_a(MODULE) and not model.type.startswith("torch.nn.")


def _put_in(training: Training, model: Object, change: RequiresGrad) -> Iterator[Object]:
    """Layers that were made and put into a model before something was done to it, and are given no weights."""
    built = {one.object.uid: one for one in training.events(Built)}
    given = [one.module for one in training.events(ModuleChanged) if one.what != "apply"]
    for one in contained(model):
        if not isinstance(one, Object) or one.definition is not None or one.uid not in built:
            continue
        is_layer = one.type.removeprefix("torch.nn.") in WITH_PARAMETERS
        is_given = any(isinstance(each, Object) and is_part_of(one, each) for each in given)
        if is_layer and not is_given and training.is_after(change, built[one.uid]):
            yield one


def _is_of_others(change: RequiresGrad, layer: Object) -> bool:
    """Whether something is done to another attribute of the library's model, `model.layer4`, or only to layers of other
    classes, as in `if isinstance(m, nn.BatchNorm2d)`."""
    part: Value = change.target
    while isinstance(part, Op) and part.name in ("iterate", "parameters", "getitem") and part.inputs:
        part = part.inputs[0]
    if isinstance(part, Op) and part.name == "getattr":
        return True
    return any(outcome and _excludes(condition, layer) for condition, outcome in change.guards)


def _excludes(condition: Any, layer: Object) -> bool:
    match condition:
        case ("isinstance" | "builtins.isinstance", _, ("library" | "libraries", *names)):
            return all(_is_other_layer(name, layer) for name in names)
    return False


def _is_other_layer(name: str, layer: Object) -> bool:
    return name != layer.type and name.removeprefix("torch.nn.") in WITH_PARAMETERS
