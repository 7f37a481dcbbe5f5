from collections.abc import Iterator, Sequence

from trainlint.facts.api.noted import KEEPS_BY_HOOKS
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.evidence import of_evaluation
from trainlint.facts.ask.flow import all_that_makes, is_among, made_of
from trainlint.facts.ask.freezing import is_born_with_gradients, may_be_wholly_frozen, wants_gradients_of_data
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.ask.new_axes import new_axis
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .switched import modes_at

_CALLED_BY_FRAMEWORKS = ("on_", "validation_", "test_", "predict_", "update")
"""How methods begin that Lightning, torchmetrics and the like call, with gradients switched off."""


@rule(Training, level="warning", absence=True, costs=True)
def check(training: Training) -> Iterator[Finding]:
    doubt = _doubt(training)
    if doubt is None or wants_gradients_of_data(training):
        return
    kept = [event.value for event in training.handed_out()] if doubt else []
    used: list[Value] = [backward.loss for backward in training.events(Backward)]
    used += [event.target for event in training.events(ParametersRead)]
    makes_used, makes_kept = all_that_makes(used), all_that_makes(kept, with_graph=True)
    runs = training.runs(ModeChange, Forward)
    said: set[tuple[object, ...]] = set()
    for forward in training.events(Forward):
        module = forward.module
        if forward.records is not True or not forward.loops or not isinstance(module, Object):
            continue
        if has_parameters(module) is not True or may_be_wholly_frozen(training, module):
            continue
        if is_among(forward.output, makes_used) or is_among(forward.output, makes_kept):
            continue
        if any(_is_volatile(one) for one in forward.inputs) or _is_for_more(training, forward):
            continue
        if _records_nothing(forward) or _is_glance(training, forward):
            continue
        modes = modes_at(training, runs, forward)
        last = modes[-1] if modes else None
        if last is not None and all(one is not None and one.training is False for one in modes):
            chosen_together = set(last.guards) & set(forward.guards)
            if not chosen_together and _stands_for_one(training, forward, makes_used):
                continue
            around: tuple[object, ...] = (forward.at.path, forward.at.cell, forward.loops, forward.calls)
            if last.module is not module:  # parts of one whole
                around = (last.at, forward.loops[0])
            if around in said:  # `head(body(x))`: one region mends both
                continue
            said.add(around)
            trained = [
                one
                for one in training.events(Forward)
                if one.at == forward.at
                and (is_among(one.output, makes_used) or _is_in_training_mode(modes_at(training, runs, one)))
            ]
            yield Finding(
                forward.at,
                f"{module.title[:1].upper()}{module.title[1:]} runs inference without `torch.no_grad()`: autograd "
                "builds a graph for every batch, which costs memory and time, and no `backward()` uses it. "
                "Wrap the evaluation in `torch.no_grad()`.",
                (
                    *_evaluating_call(forward, trained),
                    Because(last.at, "in evaluation mode since here"),
                ),
                evidence=of_evaluation(training, forward),
                clues={"only_evaluated": not trained},
                confidence="likely" if doubt else None,
                doubt=doubt,
            )


def _is_volatile(value: Value) -> bool:
    """Whether it is made of what is wrapped with `volatile=True`, which is meant to do the same, and of which TL209 speaks."""
    return any(
        isinstance(one, Op) and constant(one.options.get("volatile")) is True for one in made_of(value)
    )


def _records_nothing(forward: Forward) -> bool:
    """Whether its own code switches gradients off around all that has parameters: `@torch.no_grad()` above `forward`."""
    within = attachment(forward.output)
    return bool(within.unrecorded) and not (within.attached or within.uncertain or within.cuts)


def _is_glance(training: Training, forward: Forward) -> bool:
    """Whether a single sample is looked at once for each pass of training: its graph is small, and soon freed."""
    given = [one for value in forward.inputs[:1] for one in alternatives(value)]
    around = len(forward.loops)
    return (
        bool(given)
        and all(map(_is_one_sample, given))
        and any(one.loops[:around] == forward.loops != one.loops for one in training.events(Backward))
    )


def _is_one_sample(value: Value) -> bool:
    while isinstance(value, Op) and value.name in ("to", "cuda", "float") and value.inputs:
        value = value.inputs[0]
    return new_axis(value) == 0


def _is_for_more(training: Training, forward: Forward) -> bool:
    """Whether a graph is wanted of which the output is no part: for gradients of the input, as of an image that is optimized,
    or for what a hook has kept, of which a loss in the same loop may be made."""
    if any(is_born_with_gradients(one) for value in forward.inputs for one in made_of(value)):
        return True
    return bool(training.inside(forward.loops[-1], Backward)) and any(
        one.name in KEEPS_BY_HOOKS for one in training.events(Called)
    )


def _stands_for_one(training: Training, forward: Forward, makes_used: frozenset[int]) -> bool:
    """Whether a setting chooses it in the place of another forward of the model, which a loss is made of."""
    return any(
        one.module is forward.module
        and (one.loops, one.calls) == (forward.loops, forward.calls)
        and training.never_together(one, forward)
        and is_among(one.output, makes_used)
        for one in training.events(Forward)
    )


def _doubt(training: Training) -> str | None:
    """Whether code that is not seen can have switched gradients off, as a sentence; empty where it cannot, as around a
    function that runs `backward` itself, and None where it may do as it likes."""
    if training.entry == "program":
        return ""
    if training.entry != "function":
        return None
    if any(one.loops and not one.by_framework for one in training.events(Backward)):
        return ""
    if training.is_test or training.name.rpartition(".")[2].startswith(_CALLED_BY_FRAMEWORKS):
        return None
    return f"nobody in sight calls `{training.name}`: a caller may switch gradients off"


def _is_in_training_mode(modes: Sequence[ModeChange | None]) -> bool:
    """Whether a forward runs in training, as in a function that does both."""
    return any(one is not None and one.training is True for one in modes)


def _evaluating_call(evaluated: Forward, trained: list[Forward]) -> Iterator[Because]:
    """The call by which a function that training uses too comes to evaluate."""
    shared = {call for one in trained for call in one.calls}
    own = [call for call in evaluated.calls if call not in shared]
    if trained and own:
        yield Because(own[-1], "it runs here for evaluation; training runs the same lines")
