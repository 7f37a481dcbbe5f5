from collections.abc import Iterator

from trainlint.facts.ask.flow import all_that_makes, is_among
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value
from trainlint.finding import Because, Finding, Open, Place
from trainlint.rule import rule

from .loaded import called_at, is_loaded, loaded_whole
from .measuring import is_held_out, is_put_to_use, is_scored, only_measures
from .modes import (
    is_given_another,
    may_be_switched_later,
    stays_in_training,
    switched_inside,
    switched_on,
)
from .named import is_of_factory
from .varying import WHOLE_MODELS, Varying, has_unseen_layers, is_of_unseen_class, varying

_ADVICE = "Call `eval()` before it, and `train()` before training continues."
_UNSEEN = "no layer in sight depends on the mode"

Learnt = dict[int, list[Backward | OptimizerStep]]
"""The last backward pass and the last step in each loop."""


@rule(Training, level="warning", confidence="likely", words="no_grad inference_mode", absence=True)
def check(training: Training) -> Iterator[Finding | Open]:
    if training.entry == "class" or training.is_test:  # a test of shapes or gradients measures nothing
        return
    used: list[Value] = [one.loss for one in training.events(Backward)]
    used += [one.target for one in training.events(ParametersRead)]
    makes_used = all_that_makes(used)
    learnt: Learnt = {}
    reported: set[object] = set()
    in_evaluation_mode = {one.at for one in training.events(Forward) if one.mode is False}
    for forward in training.events(Forward):
        module = forward.module
        if not isinstance(module, Object):
            continue
        if not _may_evaluate(training, forward, learnt):
            if forward.at not in in_evaluation_mode:
                yield Open(forward.at, "whether it evaluates later")
            continue
        whole = loaded_whole(training, module)
        one = whole.uid if whole is not None else forward.at
        if one in reported:
            continue
        makes_loss = is_among(forward.output, makes_used) and not is_loaded(training, forward, module)
        is_open = makes_loss or is_given_another(forward) or may_be_switched_later(training, forward, module)
        found = None if is_open else _found(training, forward, module)
        if found is not None:
            reported.add(one)
            yield found
        elif forward.mode is not False:
            yield Open(forward.at, "whether this is an evaluation")


def _found(training: Training, forward: Forward, module: Object) -> Finding | None:
    is_measured = only_measures(training, forward, module)
    if not is_measured and not is_put_to_use(training, forward, module):
        return _beside_training(training, forward, module)
    if module.is_given and not is_measured:
        return None  # who made it may have switched it
    parts = varying(training, forward, module)
    if parts:
        left_on = (one for one in parts if stays_in_training(training, forward, module, one.holder))
        part = next(left_on, None)
        return _in_sight(training, forward, module, part, is_measured) if part is not None else None
    if not has_unseen_layers(module) or not stays_in_training(training, forward, module, module):
        return None
    switch = switched_on(training, forward, module)
    if switch is not None:
        return _unseen(forward, _UNSEEN, switch.at)
    if forward.records is False and (
        is_of_unseen_class(module) or (is_measured and _is_new(training, forward, module))
    ):
        return _unseen(forward, _UNSEEN)
    return _beside_training(training, forward, module)


def _is_new(training: Training, forward: Forward, module: Object) -> bool:
    """Whether a function out of sight has made a model anew, as its name says, and weights are loaded into it here."""
    return is_of_factory(module) and is_loaded(training, forward, module)


def _beside_training(training: Training, forward: Forward, module: Object) -> Finding | None:
    """An evaluation that nobody in sight calls, in a file that trains the same model."""
    if not module.is_only_switched_on or training.events(ModeChange):
        return None
    is_evaluation = forward.records is False and is_scored(training, forward)
    doubt = "its layers and callers are not in sight: this file calls `train()`, and nowhere `eval()`"
    return _unseen(forward, doubt) if is_evaluation else None


def _in_sight(
    training: Training, forward: Forward, module: Object, part: Varying, is_measured: bool
) -> Finding:
    """An evaluation of a model a part of which depends on the mode."""
    own = switched_inside(training, forward)
    advice = (
        _ADVICE
        if own is None
        else "Its own `forward` switches it to training mode, whatever the caller has set: call "
        "`train()` in the training loop instead."
    )
    places = (
        (own.at if own is not None else None, "it switches its own mode here"),
        (part.at, f"`{part.shown}` depends on the mode"),
    )
    whole = loaded_whole(training, module)
    return Finding(
        forward.at if whole is None else called_at(training, forward, whole),
        f"{(whole or module).title} is evaluated in training mode, so `{part.shown}` {_does(part)}, and the evaluation "
        f"result is wrong. {advice}",
        tuple(Because(at, text) for at, text in places if at is not None),
        evidence={"training": True} if forward.mode is not None else {},
        confidence=None if is_measured else "likely",
        doubt="" if is_measured else "nothing is compared with targets here, so training mode may be meant",
    )


def _unseen(forward: Forward, doubt: str, switched_at: Place | None = None) -> Finding:
    """An evaluation of a model whose layers are not in sight."""
    title = forward.module.title if isinstance(forward.module, Object) else "this model"
    shown = "switched to training mode here, and not to evaluation mode"
    return Finding(
        forward.at,
        f"{title[0].upper()}{title[1:]} is evaluated in training mode: any dropout in it still drops activations, and any batch "
        f"norm normalises with the statistics of each batch. {_ADVICE}",
        (Because(switched_at, shown),) if switched_at is not None else (),
        confidence="likely",
        doubt=doubt,
    )


def _does(part: Varying) -> str:
    if part.is_norm:
        return (
            "normalises with the statistics of each batch, and updates its running statistics from "
            "evaluation data"
        )
    return "behaves as in training" if part.shown.startswith(WHOLE_MODELS) else "still drops activations"


def _may_evaluate(training: Training, forward: Forward, learnt: Learnt) -> bool:
    """Whether a forward runs under `no_grad`, without any backward, or only measures beside one: after all that the iteration
    does to learn, or on what is held out."""
    if forward.records is False:
        return True
    if not forward.loops:
        return not training.events(Backward)
    loop = forward.loops[-1]
    if loop not in learnt:
        learnt[loop] = [*training.inside(loop, Backward)[-1:], *training.inside(loop, OptimizerStep)[-1:]]
    last = learnt[loop]
    if not last:
        return True
    module = forward.module
    is_beside = all(training.is_after(forward, one) for one in last) or is_held_out(training, forward)
    return is_beside and isinstance(module, Object) and only_measures(training, forward, module)
