"""Which modules a program may have frozen."""

from __future__ import annotations

from trainlint.facts.api.classes import MODULE, PARAMETER
from trainlint.facts.api.layers import WITH_PARAMETERS
from trainlint.facts.api.operations import CREATES
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.holding import contained, has_parameters, held_in, is_part_of
from trainlint.facts.ask.modes import may_depend_on_mode
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.parameters import ParametersListed, ParametersRead, RequiresGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value, alternatives, constant


def may_be_frozen(training: Training, *modules: Value) -> bool:
    """Whether the program switches `requires_grad` off for one of these modules, or for what may be a part of one. What is
    made later is not meant."""
    return any(
        constant(event.wanted) is not True
        and (
            may_belong(event.target, _there(training, event, modules))
            or any(one.uid in _then_inside(training, event.target) for one in modules)
        )
        for event in training.events(RequiresGrad)
    )


@question(start=frozenset(), unknown=frozenset())
def _then_inside(training: Training, target: Value) -> frozenset[int]:
    """The numbers of the modules whose parameters a value was when they were listed: it may hold others now."""
    listed = {one.output.uid: one.held for one in training.events(ParametersListed)}
    return frozenset().union(*(listed.get(one.uid, ()) for one in reached([target])))


def _there(training: Training, event: Event, modules: tuple[Value, ...]) -> tuple[Value, ...]:
    """Some modules, without layers of torch's that were made after something happened."""
    return tuple(
        one
        for one in modules
        if not (isinstance(one, Object) and _is_layer(one) and training.is_made_after(one, event))
    )


def may_be_wholly_frozen(training: Training, module: Object) -> bool:
    """Whether nothing shows that a module keeps trainable parameters: it may be frozen itself, or all its layers that have
    some. A frozen embedding in a model leaves the rest."""
    return may_be_frozen(training, module) and not any(
        has_parameters(layer) for layer in _layers_left(training, module)
    )


def may_freeze_modes(training: Training, module: Object) -> bool:
    """Whether all layers of a module that depend on its mode may be frozen, so that evaluation mode is meant for them."""
    return may_be_frozen(training, module) and not any(
        may_depend_on_mode(layer) for layer in _layers_left(training, module)
    )


def _layers_left(training: Training, module: Object) -> list[Object]:
    """The layers of torch in a module that the program certainly does not freeze; none where that is open."""
    frozen: list[Object] = []
    for event in training.events(RequiresGrad):
        if constant(event.wanted) is not True and may_belong(event.target, (module,)):
            if numbers := _own_numbers(event.target):
                parts = (one for one in contained(module) if isinstance(one, Object))
                frozen += [one for one in parts if not numbers.isdisjoint(held_in(one)) and _is_layer(one)]
                continue
            owners = _owners(event.target)
            if owners is None or any(is_part_of(module, owner) for owner in owners):
                return []
            frozen += owners
    return [
        one
        for one in contained(module)
        if isinstance(one, Object)
        and one.type.startswith("torch.nn.")
        and one.definition is None
        and not one.is_open
        and not any(is_part_of(one, owner) or is_part_of(owner, one) for owner in frozen)
    ]


def wants_gradients_of_data(training: Training) -> bool:
    """Whether the program asks for gradients of what certainly is no part of a module, or may be none: its inputs."""
    asked = any(
        constant(event.wanted) is not False and _owners(event.target) is None
        for event in training.events(RequiresGrad)
    )
    return asked or any(is_born_with_gradients(event.target) for event in training.events(ParametersRead))


def is_born_with_gradients(value: Value) -> bool:
    """Whether a tensor is made with `requires_grad=True`, as by `Variable(x, requires_grad=True)`."""
    return isinstance(value, Op) and constant(value.options.get("requires_grad")) is True


def _is_layer(module: Object) -> bool:
    return module.definition is None and module.type.removeprefix("torch.nn.") in WITH_PARAMETERS


def may_belong(target: Value, modules: tuple[Value, ...]) -> bool:
    """Whether a tensor whose `requires_grad` is set may be a part of one of some modules."""
    if not modules or _is_plain_tensor(target):
        return False
    known = [one for one in modules if isinstance(one, Object)]
    if numbers := _own_numbers(target):
        return len(known) < len(modules) or not all(numbers.isdisjoint(held_in(one)) for one in known)
    owners = _owners(target)
    if owners is None:
        return not all(is_another_entry(target, one) for one in modules)
    return len(known) < len(modules) or any(
        is_part_of(owner, one) or is_part_of(one, owner) for owner in owners for one in known
    )


def is_another_entry(target: Value, module: Value) -> bool:
    """Whether a value is another one of several that the same call returned than a module stands for: `vae, unet = build()`."""
    made = module.stands_for if isinstance(module, Object) else None
    match target, made:
        case (
            Op(name="getitem", inputs=(holder, *_), options={"index": Constant(value=one)}),
            Op(name="getitem", inputs=(same, *_), options={"index": Constant(value=other)}),
        ):
            return holder is same and bool(one != other)
    return False


def _is_plain_tensor(target: Value) -> bool:
    """Whether a tensor certainly is no parameter, and not made of any: a table that a constructor fills."""
    found = attachment(target) if isinstance(target, Op) and target.name in CREATES else None
    return found is not None and found.is_nothing and not found.uncertain


def _own_numbers(target: Value) -> frozenset[int]:
    """The number of a parameter that the program has made itself: only modules that hold it are meant. None for anything
    else."""
    made = [one for one in alternatives(target) if isinstance(one, Op) and one.name == PARAMETER]
    is_parameter = bool(made) and len(made) == len(list(alternatives(target)))
    return frozenset(one.uid for one in made) if is_parameter else frozenset()


@question(start=None, unknown=None)
def _owners(target: Value) -> tuple[Object, ...] | None:
    """The modules whose parameters a value is or holds; None where that is not certain."""
    found: dict[int, Object] = {}
    for one in reached([target], lambda one: () if isinstance(one, Object) else one.parts()):
        if isinstance(one, Object) and one.is_a(MODULE):
            found[one.uid] = one
        elif (not one.parts() and not isinstance(one, Constant)) or (
            isinstance(one, Op) and one.owner is not None
        ):
            return None
    return tuple(found.values()) or None


def is_frozen(training: Training, module: Object) -> bool:
    """Whether a program certainly switches `requires_grad` off for all of a module, and never on again."""
    changes = _changes(training, module)
    return (
        all(constant(one.wanted) is False for one in changes)
        and any(_is_certainly_of(one, module) for one in changes)
        and not any(_gets_at(one, module) for one in training.events(Escape))
    )


def is_trained(training: Training, module: Object) -> bool:
    """Whether the parameters of a module certainly require a gradient at the end."""
    changes = _changes(training, module)
    if not changes:
        return True
    last = changes[-1]
    return constant(last.wanted) is True and (
        _is_certainly_of(last, module) or (not last.guards and _is_inside(last, module))
    )


def _changes(training: Training, module: Object) -> list[RequiresGrad]:
    return [one for one in training.events(RequiresGrad) if may_belong(one.target, (module,))]


def _is_certainly_of(change: RequiresGrad, module: Object) -> bool:
    """Whether what is changed is a module, or one that holds it."""
    return not change.guards and any(is_part_of(module, one) for one in _owners(change.target) or ())


def _is_inside(change: RequiresGrad, module: Object) -> bool:
    return any(is_part_of(one, module) for one in _owners(change.target) or ())


def _gets_at(escape: Escape, module: Object) -> bool:
    """Whether code that is not seen is given a module, or one that holds it."""
    return any(
        isinstance(one, Object) and is_part_of(module, one)
        for given in escape.values
        for one in handed_over(given)
    )
