from collections.abc import Iterator

from trainlint import limits
from trainlint.facts.api.classes import SOME_MODULE
from trainlint.facts.ask.evidence import of_mode
from trainlint.facts.ask.flow import all_that_makes, is_among
from trainlint.facts.ask.freezing import may_freeze_modes
from trainlint.facts.ask.modes import drops_by_mode, is_known_to_depend_on_mode, may_depend_on_mode
from trainlint.facts.ask.stepped import modules_stepped
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value, alternatives
from trainlint.finding import Because, Finding, Open, Place
from trainlint.rule import rule

from .born_off import never_switched
from .left_off import left_off
from .on_purpose import is_around_it, is_meant, is_of_one_sample, is_other_split, is_set_at_first, is_setting
from .switched_back import may_switch_back
from .trained_as import trained_as


@rule(Training, level="error", confidence="likely", absence=True)
def check(training: Training) -> Iterator[Finding | Open]:
    pairs = _trained(training)
    trained = [forward for forward, _ in pairs]
    if isinstance(training, Recorded):
        yield from left_off(training, trained)
    shown = _after_evaluation(training, trained)
    switches: dict[int, dict[int, ModeChange]] = {}
    said: set[tuple[object, ...]] = set()
    reported: set[Place] = set()
    for forward, module in pairs:
        run = forward.module
        if (
            not isinstance(module, Object)
            or not isinstance(run, Object)
            or not (may_depend_on_mode(run) or drops_by_mode(training, forward))
            or not (may_depend_on_mode(module) or drops_by_mode(training, forward))
            or may_freeze_modes(training, module)
        ):
            continue
        if forward.at not in shown:
            yield Open(forward.at, "in which mode it runs after an evaluation")
        if module.uid not in switches:
            switches[module.uid] = _switched_off(training, module)
        switched = switches[module.uid].get(id(forward))
        if switched is None or _is_shown_to_train(forward):
            continue
        excuses = (is_other_split, is_around_it, is_setting, is_set_at_first, is_of_one_sample)
        if any(excuse(training, switched, forward) for excuse in excuses):
            continue
        if 0 < len(forward.off) < forward.layers:
            yield Open(forward.at, "whether only a part is meant to be in evaluation mode")
        elif not is_meant(training, switched, forward):
            step = (module.uid, switched.at, forward.loops)
            if step in said:  # the same step calls it more than once
                continue
            said.add(step)
            reported.add(forward.at)
            is_known = (
                isinstance(training, Recorded)
                or (is_known_to_depend_on_mode(module) and is_known_to_depend_on_mode(run))
                or bool(drops_by_mode(training, forward))
            )
            yield Finding(
                forward.at,
                _said(module, _trains_elsewhere(training, forward, trained), is_known),
                (
                    Because(switched.at, "switched to evaluation mode here, and not back"),
                    *_calls_to(switched, forward),
                ),
                evidence=of_mode(training, forward),
                confidence=None if is_known else "likely",
                doubt="" if is_known else "no layer in sight depends on the mode",
            )
    yield from never_switched(training, pairs, reported)


def _said(module: Object, trains_elsewhere: bool, is_known: bool) -> str:
    if trains_elsewhere:
        return (
            f"This loop steps on the losses of {module.title} in evaluation mode, and another one trains it in "
            "training mode: a validation loop that trains. For validation, remove `backward()` and `step()` "
            "here; for training, call `train()` before it."
        )
    does = (
        "dropout is off and the running statistics of batch norm are frozen"
        if is_known and module.type != SOME_MODULE
        else "any dropout in it is off, and the running statistics of any batch norm are frozen"
    )
    return f"This training step runs {module.title} in evaluation mode: {does}. Call `train()` before it."


def _trains_elsewhere(training: Training, forward: Forward, trained: list[Forward]) -> bool:
    """Whether another loop trains the same module, and has switched it to training mode."""
    others = [one for one in trained if one.module is forward.module and one.loops[-1:] != forward.loops[-1:]]
    modes = [
        last
        for run in training.runs(ModeChange, Forward)
        for event, last in training.modes(run, forward.module)
        if any(event is one for one in others)
    ]
    return bool(modes) and all(one is not None and one.training is True for one in modes)


def _trained(training: Training) -> list[tuple[Forward, Value]]:
    """The forwards whose output goes into a loss, of modules that an optimizer steps on that loss, and that module. What
    only another loop steps is fixed in this one, and passes gradients on."""
    # of each optimizer, its last step in the same loops shows what steps on a loss before it
    steps = {(one.loops, one.optimizer.uid): one for one in training.events(OptimizerStep)}
    held = {one: _modules_of(training, one) for one in steps.values()}
    modules = {number: one for every in held.values() for number, one in every.items()}
    losses: dict[frozenset[int], list[Value]] = {}
    for backward in training.events(Backward):
        together = [frozenset(held[one]) for one in held if _are_together(training, backward, one)]
        losses.setdefault(frozenset().union(*together), []).append(backward.loss)
    found: dict[int, Value] = {}
    for stepped, backwards in losses.items():
        makes_losses = all_that_makes(backwards, with_graph=True)
        for one in training.events(Forward):
            if one.records and id(one) not in found and is_among(one.output, makes_losses):
                module = trained_as(one, [modules[number] for number in sorted(stepped)])
                if module is not None:
                    found[id(one)] = module
    return [(one, found[id(one)]) for one in training.events(Forward) if id(one) in found]


def _modules_of(training: Training, step: OptimizerStep) -> dict[int, Value]:
    """The modules that an optimizer steps, by their numbers."""
    stepped = modules_stepped(training, step.optimizer)
    return {one.uid: one for module in stepped for one in alternatives(module)}


def _after_evaluation(training: Training, forwards: list[Forward]) -> set[Place]:
    """Where forwards are that come after a switch to evaluation: before one, nothing is shown of what follows it."""
    switches = [one for one in training.events(ModeChange) if one.training is False]
    return {one.at for one in forwards if any(training.is_after(one, switch) for switch in switches)}


def _are_together(training: Training, backward: Backward, step: OptimizerStep) -> bool:
    """Whether a step uses the gradients of a backward pass: the loops around one are around the other too, or it follows
    them. One in a separate loop is for something else, such as an attack on the model."""
    depth = min(len(backward.loops), len(step.loops))
    if depth == 0:
        return training.is_after(step, backward)
    return backward.loops[:depth] == step.loops[:depth]


def _switched_off(training: Training, module: Object) -> dict[int, ModeChange]:
    """The last `eval()` before the forwards of a module, on some path through the program, by their identity; unless
    something that may be the module, or a part of it, is switched back in between."""
    found: dict[int, ModeChange] = {}
    if all(one.training is True for one in training.events(ModeChange)):
        return found
    for run in training.runs(ModeChange, Forward):
        is_chosen = False
        for event, last in training.modes(run, module):
            if isinstance(event, ModeChange):
                is_chosen = may_switch_back(event, module) or (is_chosen and event.module is not module)
            elif not is_chosen and last is not None and last.training is False and isinstance(event, Forward):
                found[id(event)] = last
    return found


def _is_shown_to_train(forward: Forward) -> bool:
    """Whether a run has shown that layers which depend on the mode were training, whatever has switched them back."""
    if forward.mode is None:
        return False
    return not forward.off if forward.layers else forward.mode


def _calls_to(switched: ModeChange, forward: Forward) -> Iterator[Because]:
    """The calls that lead from the function of the training step, or from one that it has in common, to the switch; the
    nearest first."""
    for call in reversed(switched.calls[-limits.MAX_PLACES :]):
        if call not in forward.calls:
            yield Because(call, "it is called here")
