from collections.abc import Iterator

from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.api.gradients import REBUILDS
from trainlint.facts.ask.attachment import attachment, terms
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.flow import is_made_of, made_of
from trainlint.facts.ask.number_terms import number_terms
from trainlint.facts.ask.parts_cut import never_learns, parts_cut, perhaps_cut
from trainlint.facts.ask.starving import starving
from trainlint.facts.ask.stepped import is_certainly_not_stepped
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, constant
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .gradients import of_gradients
from .targets import without_targets
from .wasted import wasted_terms


@rule(Training, level="error", confidence="likely", words="grad_outputs")
def check(training: Training) -> Iterator[Finding | Open]:
    for at in perhaps_cut(training):
        yield Open(at, "parameters that an optimizer holds got no gradient")
    leaves = {
        event.target.uid for event in training.events(RequiresGrad) if constant(event.wanted) is not False
    }
    for backward in training.events(Backward):
        cuts = list(without_targets(training, _newest(backward, starving(backward.loss))))
        for cut in cuts:
            is_cut = cut.name not in REBUILDS and cut.uid not in leaves
            if not is_cut or cut.at is None or _has_had_its_own(training, backward, cut):
                continue
            if _is_there_beside(backward, cut) or _is_looked_at(training, backward, cut):
                continue
            if _learns_beside(backward, cut, cuts):
                continue
            if _is_taken_out_again(backward, cut) and not never_learns(training, backward, cut):
                continue
            if not (cut.inputs and is_certainly_not_stepped(training, cut.inputs[0])):
                yield Finding(
                    cut.at,
                    f"`{cut.text}` detaches the loss from the model: the parameters before it get no "
                    "gradient. Detach only what is logged.",
                    (Because(backward.at, "`backward()` starts here"),),
                    evidence=of_cut(training, cut),
                    clues={"cut": cut.name},
                )
    if not isinstance(training, Recorded):
        yield from _made_of_gradients(training)
        yield from _wasted(training)
        yield from _numbers(training)
    for part in parts_cut(training):
        cut = part.op
        is_tensor = cut.name in ("detach", "detach_", "data")  # of numbers in a forward TL809 speaks
        if cut.at is not None and is_tensor and cut.uid not in leaves:
            yield Finding(
                cut.at,
                f"`{cut.text}` cuts off what comes before it: these parameters never learn, though "
                f"`{training.name_of(part.step)}` holds them and what follows is trained. Use the tensor itself, "
                "or leave them out of the optimizer.",
                (
                    Because(part.backward.at, "`backward()` starts here"),
                    Because(part.step.at, "this optimizer holds their parameters"),
                ),
                clues={"cut": cut.name},
                confidence="likely" if part.doubt else "certain",
                doubt=part.doubt,
            )


def _is_looked_at(training: Training, backward: Backward, cut: Op) -> bool:
    """Whether nothing is trained, and of two terms without any module one is held still: gradients themselves are studied."""
    return (
        attachment(backward.loss).attached
        and not training.events(OptimizerStep)
        and not any(
            isinstance(one, Op) and (one.owner is not None or one.name in (PARAMETER, "parameters"))
            for one in made_of(cut)
        )
    )


def _made_of_gradients(training: Training) -> Iterator[Finding]:
    for gradients, used in of_gradients(training):
        if gradients.at is not None:
            yield Finding(
                gradients.at,
                f"`{gradients.text}` keeps no graph of these gradients, so the loss that is made of them is a constant: it "
                "changes no parameter. Pass `create_graph=True`.",
                (Because(used, "a loss is made of them here"),),
                clues={"cut": "autograd.grad"},
            )


def _wasted(training: Training) -> Iterator[Finding]:
    for cut, backward, step, clear in wasted_terms(training):
        if cut.at is not None:
            yield Finding(
                cut.at,
                f"`{cut.text}` takes this term out of what `{training.name_of(step)}` learns from: all gradients that the term "
                "gives are cleared before they are used. Use the tensor itself.",
                (
                    Because(backward.at, "`backward()` starts here"),
                    Because(step.at, "this step gets nothing from the term"),
                    Because(clear.at, "the gradients of all else in it are cleared here"),
                ),
                clues={"cut": cut.name},
                is_shown_by_runs=False,
            )


def _numbers(training: Training) -> Iterator[Finding]:
    """Terms that are plain numbers, of what a model gives whose layers are not in sight."""
    for backward in training.events(Backward):
        for cut in number_terms(backward.loss):
            if cut.name != "tensor" and cut.at is not None and cut not in starving(backward.loss):
                yield Finding(
                    cut.at,
                    f"`{cut.text}` makes a plain number of this term of the loss, so it changes no parameter. Use the tensor "
                    "itself, and make numbers only of what is logged.",
                    (Because(backward.at, "`backward()` starts here"),),
                    clues={"cut": cut.name},
                    confidence="likely",
                    doubt="what the model does is not in sight",
                    is_shown_by_runs=False,
                )


def _newest(backward: Backward, cuts: list[Op]) -> list[Op]:
    """Those of this iteration: what was detached before the loop is a copy to compare with, unless it is all there is."""
    new = [one for one in cuts if set(backward.loops[-1:]) <= set(one.loops)]
    return new or cuts


def _is_taken_out_again(backward: Backward, cut: Op) -> bool:
    """Whether another term, which learns, holds it too: the shift of `m + (t - m).exp().mean().log()`."""
    return any(
        isinstance(term, Op) and attachment(term).attached and is_made_of(term, cut)
        for term in terms(backward.loss)
    )


def _learns_beside(backward: Backward, cut: Op, cuts: list[Op]) -> bool:
    """Whether what is detached learns by another term, and a new tensor cuts this one off anyway: the values in an advantage."""
    return any(one.name in REBUILDS for one in cuts) and any(
        attachment(term).attached and is_made_of(term, inner, with_graph=True)
        for inner in cut.inputs[:1]
        for term in terms(backward.loss)
    )


def _is_there_beside(backward: Backward, cut: Op) -> bool:
    """Whether what is detached is a term that the same loss holds with its graph, as in `loss += loss.item()`, or is taken
    from one, as in `easy + (hard - easy).detach()`: only the number changes, and no gradient is lost."""
    summed = terms(backward.loss)
    return any(one is term for inner in cut.inputs[:1] for one in terms(inner) for term in summed)


def _has_had_its_own(training: Training, backward: Backward, cut: Op) -> bool:
    """Whether another backward goes through what is detached: then the model learns from it there."""
    return any(
        is_made_of(other.loss, cut.inputs[0], with_graph=True)
        for other in training.events(Backward)
        if other is not backward and cut.inputs
    )
