from collections.abc import Iterator

from trainlint.facts.ask.flow import all_that_makes, is_among
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .measuring import is_put_to_use, only_measures
from .modes import layer_with_modes, may_be_switched_later, stays_in_training, switched_inside


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding | Open]:
    if training.entry == "class":
        return
    used: list[Value] = [one.loss for one in training.events(Backward)]
    used += [one.target for one in training.events(ParametersRead)]
    makes_used = all_that_makes(used)
    reported: set[object] = set()
    for forward in training.events(Forward):
        module = forward.module
        if not isinstance(module, Object) or forward.at in reported or not _may_evaluate(training, forward):
            continue
        layer = layer_with_modes(forward, module)
        is_measured = only_measures(training, forward, module)
        if (
            layer is not None
            and (is_measured or is_put_to_use(training, forward, module))
            and not is_among(forward.output, makes_used)
            and stays_in_training(training, forward, module)
            and not may_be_switched_later(training, forward, module)
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
                confidence=None if is_measured else "likely",
                doubt=""
                if is_measured
                else "nothing is compared with targets here, so training mode may be meant",
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
