from collections.abc import Iterator

from trainlint.facts.api.torch_api import EQUALITIES
from trainlint.facts.ask.flow import is_made_of, made_of
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.model.events import (
    Accumulated,
    Backward,
    Forward,
    LossCall,
    Operation,
    OptimizerStep,
    ParametersRead,
    StateLoaded,
)
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Value, alternatives
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .modes import layer_with_modes, stays_in_training, switched_inside


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding | Open]:
    if training.entry == "class":
        return
    used: list[Value] = [one.loss for one in training.events(Backward)]
    used += [one.target for one in training.events(ParametersRead)]
    reported: set[object] = set()
    for forward in training.events(Forward):
        module = forward.module
        if not isinstance(module, Object) or forward.at in reported or not _may_evaluate(training, forward):
            continue
        layer = layer_with_modes(module)
        if (
            layer is not None
            and _evaluates(training, forward, module)
            and not any(is_made_of(one, forward.output) for one in used)
            and stays_in_training(training, forward, module)
        ):
            reported.add(forward.at)
            name = module.type.removeprefix("torch.")
            kind = layer.type.removeprefix("torch.")
            own = switched_inside(training, forward)
            advice = (
                "Call `eval()` before it, and `train()` before training continues."
                if own is None
                else "Its own `forward` switches it to training mode, whatever the caller has set: call "
                "`train()` in the training loop instead."
            )
            places = (
                (own.at if own is not None else None, "it switches its own mode here"),
                (layer.at, f"`{kind}` depends on the mode"),
            )
            yield Finding(
                forward.at,
                f"`{name}` is evaluated in training mode, so `{kind}` {_does(layer)}, and the evaluation "
                f"result is wrong. {advice}",
                tuple(Because(at, text) for at, text in places if at is not None),
                evidence={"training": True} if forward.mode is not None else {},
            )
        elif forward.mode is not False:
            yield Open(forward.at, "whether this is an evaluation")


def _does(layer: Object) -> str:
    if "BatchNorm" in layer.type:
        return (
            "normalises with the statistics of each batch, and updates its running statistics from "
            "evaluation data"
        )
    return "still drops activations" if "Dropout" in layer.type else "behaves as in training"


def _may_evaluate(training: Training, forward: Forward) -> bool:
    """Whether a forward runs under `no_grad`, or without any backward."""
    around = training.inside(forward.loops[-1], Backward) if forward.loops else training.events(Backward)
    return forward.records is False or not around


def _evaluates(training: Training, forward: Forward, module: Object) -> bool:
    """Whether a forward only evaluates a model that was trained or loaded in this program."""
    is_loaded = (
        training.entry == "program"
        and not training.events(Backward)
        and any(one.target is module for one in training.events(StateLoaded))
    )
    if forward.records is not False:
        return _learns(training, module) and _is_compared(training, forward.output)
    return (is_loaded or _learns(training, module)) and (
        _is_compared(training, forward.output) or _is_lost(training, forward)
    )


def _learns(training: Training, module: Object) -> bool:
    """Whether an optimizer steps a module on losses of its outputs."""
    stepped = [
        one
        for step in training.events(OptimizerStep)
        for held in modules_held(step.optimizer)[0]
        for one in alternatives(held)
        if isinstance(one, Object)
    ]
    return any(is_part_of(module, one) for one in stepped) and any(
        forward.module is module
        and forward.records is not False
        and is_made_of(backward.loss, forward.output)
        for backward in training.events(Backward)
        for forward in training.events(Forward)
    )


def _is_lost(training: Training, forward: Forward) -> bool:
    """Whether a loss is computed from an output, and no backward runs from it."""
    return any(_holds(one.output, forward.output) for one in training.events(LossCall))


def _is_compared(training: Training, output: Value) -> bool:
    """Whether predictions are compared with the labels, and the result is counted."""
    counted = [event.value for event in training.events(Accumulated)]
    counted += [event.output for event in training.events(Operation) if event.output.name in EQUALITIES]
    return any(
        isinstance(one, Op) and one.name in EQUALITIES and _holds(one, output)
        for value in counted
        for one in made_of(value, _is_unknown)
    )


def _holds(value: Value, output: Value) -> bool:
    """Whether a value is computed from an output, by operations that are known."""
    wanted = {one.uid for one in (output, *(output.items if isinstance(output, Items) else ()))}
    return any(one.uid in wanted for one in made_of(value, _is_unknown))


def _is_unknown(op: Op) -> bool:
    return op.name == "call"
