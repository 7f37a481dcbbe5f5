import re
from collections.abc import Iterator

from trainlint.facts.api.layers import BATCH_NORMS
from trainlint.facts.ask.holding import has_parameters, inside, is_part_of, module_of, numbers_inside
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModeChange, ModuleChanged, StateLoaded
from trainlint.facts.model.events.parameters import FrozenBefore, ParametersRead, RequiresGrad
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value, alternatives, compatible, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .shown import counting

_NORMALISED = re.compile(
    r"torchvision\.models\.(?:\w+\.)*(?:resnet|resnext|wide_resnet|densenet|mobilenet|efficientnet|googlenet|inception|"
    r"regnet|shufflenet|mnasnet|vgg\d+_bn)"
)
"""Models of torchvision's that have batch norms."""

_BODIES = frozenset("features layer1 layer2 layer3 layer4 trunk_output stem stages".split())
"""Parts of them that have batch norms."""


@rule(Training, level="warning", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    if isinstance(training, Recorded):
        yield from counting(training)
        return
    if not training.events(OptimizerStep):
        return
    frozen: dict[int, tuple[Object, RequiresGrad | FrozenBefore]] = {}
    for event in training.events(RequiresGrad):
        module = module_of(event.target) or _model_with_body(event.target)
        if module is None:
            continue
        if constant(event.wanted) is False and all(training.is_setting(one) for one, _ in event.guards):
            frozen.setdefault(module.uid, (module, event))
        elif constant(event.wanted) is not False:
            return  # some of it is trained after all
    for before in training.events(FrozenBefore):
        module = module_of(before.target)
        if module is not None:
            frozen.setdefault(module.uid, (module, before))
    followers = _followers(training)
    for module, change in frozen.values():
        if not followers.isdisjoint((module.uid, *numbers_inside(module))):
            continue
        norm = _norm_in(module)
        forward = _trained(training, module, change) if norm is not None else None
        if norm is None or forward is None or _is_kept_still(training, change, forward):
            continue
        yield Finding(
            change.at,
            "Only the parameters are frozen here: in training mode the batch norms of this model still replace their "
            "running statistics by those of the new data, so what was frozen changes. Call `eval()` on the frozen part "
            "after each `train()`.",
            (Because(forward.at, "it is called in training mode here"),),
            level="info" if _has_new_head(module) else None,
        )


def _model_with_body(target: Value) -> Object | None:
    """The model of torchvision's whose body the parameters are of that a loop goes through: `net.features.parameters()`."""
    match target:
        case Op(
            name="iterate",
            inputs=(
                Op(
                    name="parameters",
                    inputs=(
                        Op(
                            name="getattr",
                            inputs=(Object() as model, *_),
                            options={"name": Constant(value=part)},
                        ),
                        *_,
                    ),
                ),
            ),
        ) if _NORMALISED.match(model.type) and model.definition is None and part in _BODIES:
            return model
    return None


def _followers(training: Training) -> frozenset[int]:
    """Modules that are given the weights of another one, or changed by hand: a teacher that follows its student has
    statistics of its own on purpose."""
    given = [one.target for one in training.events(StateLoaded) if _is_of_module(one.state)]
    given += [one.target for one in training.events(ParametersRead)]
    found = (module_of(one) or one for value in given for one in alternatives(value))
    return frozenset(one.uid for one in found if isinstance(one, Object))


def _is_of_module(state: Value) -> bool:
    """Whether a state has just been taken from a module, and is not one of a file."""
    return any(isinstance(one, Op) and one.name == "state_dict" for one in alternatives(state))


def _has_new_head(module: Object) -> bool:
    """Whether a model of a library is given a new layer, which is then all that is trained, as tutorials do it."""
    held = (one for value in module.attributes.values() for one in alternatives(value))
    return module.definition is None and any(isinstance(one, Object) and has_parameters(one) for one in held)


def _norm_in(module: Object) -> Object | None:
    if _NORMALISED.match(module.type) and module.definition is None:
        return module
    held = (one for one in inside(module) if isinstance(one, Object))
    return next((one for one in held if one.type in BATCH_NORMS or _NORMALISED.match(one.type)), None)


def _trained(training: Training, module: Object, frozen: Event) -> Forward | None:
    """A call of a frozen module, or of one that holds it, with which a model is trained."""
    loops = {step.loops[-1] for step in training.events(OptimizerStep) if step.loops}
    for forward in training.events(Forward):
        called = forward.module
        if not isinstance(called, Object) or not loops & set(forward.loops) or forward.records is False:
            continue
        if not compatible(frozen.guards, forward.guards):
            continue
        if is_part_of(module, called) and not _is_before(training, forward, frozen):
            return forward
    return None


def _is_kept_still(training: Training, frozen: Event, forward: Forward) -> bool:
    """Whether the module, or a part of it, may be in evaluation mode when the model is trained."""
    whole = forward.module
    modes = [training.mode_at(run, forward) for run in training.runs(ModeChange, Forward) if forward in run]
    if any(one is not None and one.training is not True for one in modes):
        return True
    if isinstance(frozen, FrozenBefore) and (not modes or None in modes):
        return True  # whoever made it may have switched it
    if any(
        one.what == "apply" and not _is_before(training, one, frozen)
        for one in training.events(ModuleChanged)
    ):
        return True  # `model.apply(still)`, which may switch each batch norm to evaluation mode
    is_switched_on = bool(modes) and not any(
        one is None or _is_before(training, one, frozen) for one in modes
    )
    return any(
        change.training is not True
        and any(one is not whole for one in alternatives(change.module))
        and not (is_switched_on and _is_before(training, change, frozen))
        for change in training.events(ModeChange)
    )


def _is_before(training: Training, event: Event, frozen: Event) -> bool:
    """Whether something is over once the module is frozen."""
    return training.is_after(frozen, event) and set(frozen.loops).isdisjoint(event.loops)
