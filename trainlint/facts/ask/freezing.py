"""Which modules a program may have frozen."""

from __future__ import annotations

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value, constant


def may_be_frozen(training: Training, *modules: Value) -> bool:
    """Whether the program switches `requires_grad` off for one of these modules, or for what may be a part of one."""
    return any(
        constant(event.wanted) is not True and _may_belong(event.target, modules)
        for event in training.events(RequiresGrad)
    )


def wants_gradients_of_data(training: Training) -> bool:
    """Whether the program asks for gradients of what certainly is no part of a module, or may be none: its inputs."""
    return any(
        constant(event.wanted) is not False and _owners(event.target) is None
        for event in training.events(RequiresGrad)
    )


def _may_belong(target: Value, modules: tuple[Value, ...]) -> bool:
    owners = _owners(target)
    if owners is None:
        return True
    known = [one for one in modules if isinstance(one, Object)]
    return len(known) < len(modules) or any(
        is_part_of(owner, one) or is_part_of(one, owner) for owner in owners for one in known
    )


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
