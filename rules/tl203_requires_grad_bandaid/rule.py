from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

from trainlint.facts.api.gradients import CUTS, REBUILDS
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment, cuts, terms
from trainlint.facts.ask.behind_losses import operations_behind
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.flow import made_of, without_gradient
from trainlint.facts.ask.numbers import perhaps_of_outputs
from trainlint.facts.ask.starving import starving
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Op, Unknown, Value, alternatives, constant
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .outputs import outputs_made_leaves

_GIVEN = frozenset(("call", "output", "iterate"))
"""Operations that give what is not made in sight."""


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding | Open]:
    yield from perhaps_of_outputs(training)
    if not isinstance(training, Recorded):
        yield from _outputs(training)
    losses = {one.output.uid for one in training.events(LossCall)}
    steps = bool(training.events(OptimizerStep))
    has_copies = not operations_behind(training).isdisjoint(REBUILDS | CUTS)
    for backward in training.events(Backward):
        start = Because(backward.at, "`backward()` starts here")
        every = terms(backward.loss)
        summands = {term.uid for term in every}
        recorded = list(made_of(backward.loss, cuts)) if has_copies else []
        is_all = all(one.uid not in losses for one in recorded)
        of_losses = [one for one in recorded if _is_of_losses(one, losses, _weighed if is_all else _held)]
        copies = [one for one in every if _is_new_leaf(one) and attachment(one).is_starved]
        of_losses += [
            one for one in map(_averaged, every) if steps and _is_new_leaf(one) and _is_of_calls(one)
        ]
        for cut in dict.fromkeys((*starving(backward.loss), *copies, *of_losses)):
            if (
                cut.uid not in summands
                and cut not in of_losses
                and not _is_compared(cut, backward.loss, losses)
            ):
                continue  # a leaf that more is made of: its gradient is wanted, as in guidance by a classifier
            if _is_new_leaf(cut) and cut.at is not None:
                yield Finding(
                    cut.at,
                    f"`{cut.text}` drops the graph and sets `requires_grad` on the copy: `backward()` then "
                    "runs without an error, and reaches no parameter. Use the loss itself.",
                    (start,),
                    evidence=of_cut(training, cut),
                )
        for event in training.events(RequiresGrad):
            if constant(event.wanted) is not True or not {one.uid for one in terms(event.target)} <= summands:
                continue
            ends = [op for op in _ends(event) if op.at is not None]
            places = [Because(op.at, "the graph ends here") for op in ends if op.at is not None]
            is_cut = event.assignment and any(one.uid in losses for one in alternatives(event.target))
            if places or is_cut:  # the assignment raises for a loss that has a graph
                yield Finding(
                    event.at,
                    "this loss has lost its graph, and setting `requires_grad` does not restore it: "
                    "`backward()` then runs without an error, and reaches no parameter. Remove this line, "
                    "and keep the graph.",
                    (*places, start),
                    evidence=of_cut(training, ends[0]) if ends else {},
                )


def _outputs(training: Training) -> Iterator[Finding]:
    for event, backward in outputs_made_leaves(training):
        yield Finding(
            event.at,
            "This output has lost the graph of its model, and setting `requires_grad` does not restore it: `backward()` then "
            "runs without an error, and ends here. Remove this, and keep the graph.",
            (Because(backward.at, "`backward()` starts here"),),
        )


def _is_new_leaf(value: Value) -> TypeGuard[Op]:
    """Whether it is a copy of which the program asks a gradient where it is made."""
    return isinstance(value, Op) and cuts(value) and constant(value.options.get("requires_grad")) is True


def _averaged(value: Value) -> Value:
    """What a term is the mean or the sum of, over its own elements."""
    while isinstance(value, Op) and value.name in ("mean", "sum") and len(value.inputs) == 1:
        value = value.inputs[0]
    return value


def _is_of_calls(copy: Op) -> bool:
    """Whether it is a list of what unknown functions gave, such as the losses of several tasks: whatever these have to do
    with parameters, the copy has nothing to do with them."""
    given = copy.inputs[0] if copy.inputs else None
    return isinstance(given, Items) and any(isinstance(one, Op) and one.name == "call" for one in given.items)


def _is_compared(cut: Op, loss: Value, losses: set[int]) -> bool:
    """Whether a loss function is given the copy itself, as the prediction."""
    given = [one for one in terms(loss) if isinstance(one, Op) and one.uid in losses]
    return any(cut in alternatives(one) for loss in given for one in loss.inputs)


def _is_of_losses(value: Value, losses: set[int], into: Callable[[Value], Sequence[Value]]) -> TypeGuard[Op]:
    """Whether it is a copy into which losses themselves were put: `torch.tensor(losses, requires_grad=True)`."""
    if not (isinstance(value, Op) and cuts(value)):
        return False
    return any(one.uid in losses for one in reached(value.inputs, into))


def _held(value: Value) -> Sequence[Value]:
    """What a list holds, or what a number was read out of."""
    if isinstance(value, Op):
        return value.inputs if cuts(value) else ()
    return value.parts()


def _weighed(value: Value) -> Sequence[Value]:
    """The same, and what was weighed, summed or averaged on the way."""
    is_plain = isinstance(value, Op) and value.name in ("*", "/", "+", "-", "mean", "sum", "stack")
    return value.parts() if is_plain else _held(value)


def _is_unrecorded(event: RequiresGrad) -> bool:
    """Whether a result of code that autograd was told not to record is made a leaf by an assignment, whatever it was made of. One
    of plain numbers is a beginning, as the weight of a term that is learned."""
    target = event.target
    if not (event.assignment and isinstance(target, Op) and target.records is False):
        return False
    return any(
        isinstance(one, Unknown) or (isinstance(one, Op) and one.name in _GIVEN) for one in made_of(target)
    )


def _ends(event: RequiresGrad) -> list[Op]:
    """Where the paths from a loss to trainable parameters are cut, if all of them are."""
    if isinstance(event.target, Op) and (cuts(event.target) or _is_unrecorded(event)):
        return [event.target]
    found = attachment(event.target)
    if found.attached or (found.uncertain and not event.assignment):
        return []  # `requires_grad_()` has no effect on an attached loss; an assignment would raise
    return [*found.cuts, *found.unrecorded] or list(without_gradient(event.target))
