from collections.abc import Iterator

from trainlint.facts.api.noted import CLOCKS
from trainlint.facts.ask.interference import is_cleared
from trainlint.facts.ask.stepped import is_made_inside, is_one_of_several
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value
from trainlint.facts.seen.gradients import LeftByHand
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .again import Again, used_again
from .uncleared import is_left_alone, is_never_cleared, is_taken_in_turn

_ALIKE = frozenset(("ones", "zeros", "full"))
_MOVES = frozenset(("to", "cuda"))


@rule(Training, level="error", confidence="likely", absence=True)
def check(training: Training) -> Iterator[Finding | Open]:
    if isinstance(training, Recorded):
        yield from _by_hand(training)
    for step in training.events(OptimizerStep):
        if not training.is_optimizer(step.optimizer) or training.is_in_test(step.at):
            continue  # a test takes a few steps to look at what they leave
        if isinstance(training, Recorded) and not step.loops:
            yield from _of_a_loop_out_of_sight(training, step)
        elif is_left_alone(training, step):
            yield _of_one_of_two(training, step)
        elif is_never_cleared(training, step):
            yield _of_an_object(training, step)
        for number in reversed(step.loops):
            backwards = [one for one in training.inside(number, Backward) if one.accumulates]
            if not backwards:
                continue
            if _is_timed(training, step, number):
                continue
            if is_one_of_several(step.optimizer, step.loops):
                number = step.loops[0]
            elif is_taken_in_turn(training, step, number):
                number = step.loops[max(step.loops.index(number) - 1, 0)]
            cleared = is_made_inside(step.optimizer, number) or is_cleared(training, step, number)
            if isinstance(cleared, Open):
                yield cleared
            elif not cleared:
                yield Finding(
                    step.at,
                    f"`{training.name_of(step)}` uses the accumulated gradients of all earlier iterations, "
                    "because nothing in this loop clears them. Call `zero_grad()` once per step.",
                    (
                        Because(backwards[0].at, "gradients accumulate here"),
                        Because(training.loops[number].at, "on every iteration of this loop"),
                    ),
                    evidence=training.left_over(step),
                    clues={"scaled": step.scaler is not None},
                )
            elif not isinstance(training, Recorded) and (again := used_again(training, step)) is not None:
                yield _of_both(again)
            break


def _of_both(again: Again) -> Finding:
    return Finding(
        again.step.at,
        "This step uses the gradients of the step before it once more, because nothing clears them in between. Call "
        "`zero_grad()` before each `backward()` whose gradients a step uses.",
        (
            Because(again.backward.at, "these gradients are used again"),
            Because(again.first.at, "they were used here"),
        ),
        confidence="likely",
        doubt="both losses may be meant to move these parameters in the second step",
        is_shown_by_runs=False,
    )


def _of_one_of_two(training: Training, step: OptimizerStep) -> Finding:
    return Finding(
        step.at,
        f"`{training.name_of(step)}` uses the accumulated gradients of all earlier calls: this function clears those of its "
        "other optimizer, but not of this one. Call `zero_grad()` before each `backward()`.",
        clues={"scaled": step.scaler is not None},
        confidence="likely",
        doubt=f"nobody in sight calls `{training.name}`: a caller may clear them",
    )


def _of_an_object(training: Training, step: OptimizerStep) -> Finding:
    return Finding(
        step.at,
        f"`{training.name_of(step)}` uses the accumulated gradients of all earlier calls: nothing in this method, nor in the others "
        "of its object, clears them. Call `zero_grad()` before each `backward()`.",
        clues={"scaled": step.scaler is not None},
        confidence="likely",
        doubt=f"nobody in sight calls `{training.name}`: a caller may clear them",
    )


def _by_hand(recorded: Recorded) -> Iterator[Finding]:
    """Updates without an optimizer: a run has seen what they used."""
    for one in recorded.facts(LeftByHand):
        yield Finding(
            one.at,
            "This update uses the accumulated gradients of all earlier iterations, because nothing clears them in "
            "between. Set each `grad` to None, or to zeros, once per update.",
            evidence={"gradients left over": one.gradients, "their norm": one.norm},
        )


def _is_timed(training: Training, step: OptimizerStep, loop: int) -> bool:
    """Whether a clock is read before and after a loop over tensors of one number: it measures steps, and trains nothing."""
    given = [one for forward in training.inside(loop, Forward) for one in forward.inputs]
    if not given or not all(map(_is_of_one_number, given)):
        return False
    clocks = [
        one
        for one in training.events(Called)
        if one.name in CLOCKS and loop not in one.loops and one.calls == step.calls
    ]
    after = [training.is_after(one, step) for one in clocks]
    return True in after and False in after


def _is_of_one_number(value: Value) -> bool:
    while isinstance(value, Op) and value.name in _MOVES and value.inputs:
        value = value.inputs[0]
    return isinstance(value, Op) and value.name in _ALIKE


def _of_a_loop_out_of_sight(recorded: Recorded, step: OptimizerStep) -> Iterator[Finding]:
    """What a run has seen of a loop that a framework owns."""
    if recorded.was_cleared(step) is False:
        yield Finding(
            step.at,
            "This step uses the gradients of the step before as well, because nothing clears them in between. Call "
            "`zero_grad()` once per step, and let overridden methods of a framework, such as "
            "`optimizer_zero_grad`, do so.",
            evidence=recorded.left_over(step),
        )
