from collections.abc import Iterator

from trainlint.facts.api.classes import MODULE, OPTIMIZER, PARAMETER, SOME_MODULE
from trainlint.facts.api.layers import CONTAINERS
from trainlint.facts.api.noted import MAKES_MASK
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.guards import ask_if_missing
from trainlint.facts.ask.holding import contained, has_parameters
from trainlint.facts.ask.registration import is_kept
from trainlint.facts.ask.stepped import numbers_held
from trainlint.facts.ask.trained_by import may_train_something
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, constant
from trainlint.finding import Finding
from trainlint.rule import rule

from .in_steps import built_in_steps


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    for built in training.events(Built):
        layer, module = built.object, built.within
        if module is None or not layer.is_a(MODULE) or has_parameters(layer) is not True:
            continue
        if (
            built.is_once
            or ask_if_missing(built.under)
            or _is_only_declared(layer)
            or is_kept(training, layer)
            or _is_plain(layer)
            or _is_set(training, layer)
            or _is_of_old(training, layer)
            or _is_for_its_mask(training, built)
            or any(
                layer.uid in numbers_held(training, one) for one in training.objects if one.is_a(OPTIMIZER)
            )
        ):
            continue
        yield Finding(
            built.at,
            f"`{layer.type.removeprefix('torch.')}` is re-created on every forward call of `{module.type}`, "
            "with new weights that are not in any optimizer's param groups: it never learns, and it is not "
            "saved. Create it once, in `__init__`.",
            level="error" if may_train_something(training) else "warning",
        )
    for built in built_in_steps(training):
        if not _is_plain(built.object) and not _is_set(training, built.object):
            yield Finding(
                built.at,
                f"`{built.object.type.removeprefix('torch.')}` is re-created on every training step, with new weights that the "
                "optimizer does not have: it never learns, and it is not saved. Create it once, before the optimizer, and pass "
                "that its parameters too.",
            )


def _is_only_declared(layer: Object) -> bool:
    """Whether only an annotation says that what is called is a class, `Type[nn.Module]`: callers may hand a module over."""
    return layer.type == SOME_MODULE


def _is_of_old(training: Training, layer: Object) -> bool:
    """Whether it only holds others, as a container and an adapter do, and nothing that was created with it has weights."""
    if not _is_holder(layer):
        return False
    made = {one.object.uid for one in training.events(Built) if one.within is not None}
    return not any(
        (one.name == PARAMETER and one.uid > layer.uid)
        if isinstance(one, Op)
        else (one.uid in made or one.uid > layer.uid)
        and not _is_holder(one)
        and has_parameters(one) is not False
        for one in contained(layer)
        if isinstance(one, (Object, Op))
    )


def _is_holder(layer: Object) -> bool:
    """Whether a module has no weights but those of the modules that it holds."""
    return layer.bases <= {MODULE, "object"} if layer.definition is not None else layer.is_a(*CONTAINERS)


def _is_for_its_mask(training: Training, built: Built) -> bool:
    """Whether it is created for the mask alone that it makes, in one expression: its weights take part in nothing."""
    return any(one.name == MAKES_MASK and one.at[:3] == built.at[:3] for one in training.events(Called))


def _is_plain(layer: Object) -> bool:
    """Whether a normalisation was, or may have been, created without parameters."""
    if "Norm" not in layer.type:
        return False
    names = (
        ((1, "elementwise_affine"), (2, "elementwise_affine"))
        if "LayerNorm" in layer.type
        else ((3, "affine"),)
    )
    given = [one for position, name in names if (one := layer.argument(position, name)) is not None]
    return layer.is_open or any(constant(one) is not True for one in given)


def _is_of_itself(value: Value, layer: Object) -> bool:
    """Whether an attribute still holds what the layer has made: `nn.init` draws that again, and sets no other."""
    return (
        isinstance(value, Op) and value.name in ("getattr", PARAMETER) and value.inputs[:1] in ((), (layer,))
    )


def _is_set(training: Training, layer: Object) -> bool:
    """Whether the program sets its weights, or freezes them: then there is nothing to learn."""
    held = [layer.attributes[name] for name in ("weight", "bias") if name in layer.attributes]
    is_set = layer.definition is None and any(not _is_of_itself(one, layer) for one in held)
    return is_set or any(is_made_of(event.target, layer) for event in training.events(RequiresGrad))
