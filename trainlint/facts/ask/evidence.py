"""The numbers that a recorded run has for a finding. Empty where nothing was recorded."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import Accumulated, LossCall
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.tensors import Shape
from trainlint.finding import Place

Evidence = dict[str, Any]

_OVER_CLASSES = ("cross_entropy", "log_softmax", "nll_loss", "kl_div")
_MOST_NAMED = 4
_MOST_VALUES = 100_000


def numbers_of(value: Value | None) -> dict[str, float]:
    """What was measured of a tensor."""
    return value.seen.numbers if isinstance(value, Op) and value.seen is not None else {}


def shape_of(value: Value | None) -> Shape | None:
    return value.seen.shape if isinstance(value, Op) and value.seen is not None else None


def shown(shape: Shape) -> str:
    return f"[{', '.join(map(str, shape))}]"


def of_loss(loss: LossCall, maker: Op | None = None) -> Evidence:
    """What a loss was given and gave: range, rows that sum to 1, its value beside that of guessing.

    Args:
        maker: the operation that gave its input a meaning, such as a softmax.
    """
    given = numbers_of(loss.input)
    if not given:
        return {}
    found: Evidence = {}
    shape = shape_of(loss.input)
    if shape is not None:
        found["input shape"] = shown(shape)
    if "rows" in given and loss.function in _OVER_CLASSES:
        found["rows"] = int(given["rows"])
        found["rows that sum to 1"] = int(given["rows that sum to 1"])
    found |= {name: given[name] for name in ("smallest", "largest") if name in given}
    value = numbers_of(loss.output)
    if loss.function != "log_softmax" and "value" in value:
        found["loss"] = value["value"]
        if value.get("classes", 0) > 1:
            found["log of the number of classes"] = math.log(value["classes"])
    if maker is not None and maker.seen is not None and maker.seen.node:
        found["autograd node"] = maker.seen.node
    return found


def of_arguments(first: Value, second: Value) -> Evidence:
    """What a loss was given, in its order."""
    found: Evidence = {}
    for name, value in (("first argument", first), ("second argument", second)):
        if isinstance(value, Op) and value.seen is not None:
            gradient = "with a gradient" if value.attached else "without a gradient"
            found[name] = f"{value.seen.dtype} {shown(value.seen.shape)}, {gradient}"
    return found


def of_cut(training: Training, cut: Op) -> Evidence:
    """The operation that ends the graph, and how many parameters that an optimizer holds were left without."""
    if cut.attached is None and cut.seen is None:
        return {}
    found: Evidence = {"operation": cut.name}
    if cut.seen is not None:
        found["its shape"] = shown(cut.seen.shape)
    return found | _without_gradient(held(training))


def of_gradients(training: Training, optimizer: Value) -> Evidence:
    """With how many gradients an optimizer took its first step."""
    number = _number_of(training, optimizer)
    return _without_gradient([one for one in held(training) if number in one.optimizers])


def held(training: Training) -> list[ParameterSeen]:
    """The trainable parameters that an optimizer holds."""
    return [one for one in training.facts(ParameterSeen) if one.trainable and one.optimizers]


def _without_gradient(parameters: Iterable[ParameterSeen]) -> Evidence:
    judged = [one for one in parameters if one.stepped or one.expected]
    if not judged:
        return {}
    return {
        "parameters that stepped": len(judged),
        "of them without a gradient": sum(one.gradient is None for one in judged),
    }


def seen_optimizer(training: Training, optimizer: Value) -> OptimizerSeen | None:
    """What a run has shown of an optimizer; None where several were made at its place, or none."""
    if not isinstance(optimizer, Object):
        return None
    found = [
        one for one in training.facts(OptimizerSeen) if one.at == optimizer.at and one.type == optimizer.type
    ]
    return found[0] if len(found) == 1 else None


def _number_of(training: Training, optimizer: Value) -> int | None:
    seen = seen_optimizer(training, optimizer)
    return seen.number if seen is not None else None


def of_idle(training: Training, optimizer: Value) -> Evidence:
    """How many backward passes an optimizer has let go by."""
    seen = seen_optimizer(training, optimizer)
    if seen is None:
        return {}
    return {
        "backward passes": len(training.events(Backward)),
        "its steps": seen.steps,
        "its parameters": seen.parameters,
    }


def of_rebuilding(training: Training, at: Place) -> Evidence:
    """How often an object was made at one place of a run."""
    if not _is_run(training):
        return {}
    return {"times built": sum(one.at == at for one in training.events(Built))}


def of_mode(training: Training, forward: Forward) -> Evidence:
    """Which layers that depend on the mode stood in evaluation."""
    if not _is_run(training):
        return {}
    off = forward.off
    more = [f"{len(off) - _MOST_NAMED} more"] if len(off) > _MOST_NAMED else []
    return {
        "training": bool(forward.mode),
        "layers that depend on the mode": forward.layers,
        "in evaluation": ", ".join([*off[:_MOST_NAMED], *more]),
    }


def of_evaluation(training: Training, forward: Forward) -> Evidence:
    """How often a module was called at one place, and what autograd kept of each call."""
    if not _is_run(training):
        return {}
    calls = sum(one.at == forward.at for one in training.events(Forward))
    return {"calls": calls, "operations recorded in one": _recorded_operations(forward.output)}


def of_sum(training: Training, event: Accumulated) -> Evidence:
    """How much of the graph a running sum holds on to."""
    if not _is_run(training):
        return {}
    rounds = [one for one in training.events(Accumulated) if one.at == event.at]
    return {
        "iterations accumulated": len(rounds),
        "operations kept alive": max(_recorded_operations(one.result) for one in rounds),
    }


def _recorded_operations(value: Value) -> int:
    """How many operations autograd has recorded on the way to a value."""
    ways = reached([value], lambda one: one.parts() if _may_be_recorded(one) else (), _MOST_VALUES)
    return sum(isinstance(one, Op) and bool(one.inputs) and _may_be_recorded(one) for one in ways)


def _may_be_recorded(value: Value) -> bool:
    return bool(value.attached) if isinstance(value, Op) else not isinstance(value, Constant)


def _is_run(training: Training) -> bool:
    return bool(training.facts(ModuleSeen) or training.facts(OptimizerSeen))
