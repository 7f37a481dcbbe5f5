from collections.abc import Iterator

from trainlint.facts.api.gradients import REBUILDS
from trainlint.facts.ask.attachment import attachment, starving, terms
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.parts_cut import parts_cut
from trainlint.facts.ask.stepped import is_certainly_not_stepped
from trainlint.facts.model.events.parameters import RequiresGrad
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    leaves = {
        event.target.uid for event in training.events(RequiresGrad) if constant(event.wanted) is not False
    }
    for backward in training.events(Backward):
        for cut in _newest(backward, starving(backward.loss)):
            is_cut = cut.name not in REBUILDS and cut.uid not in leaves
            if not is_cut or cut.at is None or _has_had_its_own(training, backward, cut):
                continue
            if _is_taken_out_again(backward, cut):
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
                confidence="certain" if part.is_sure else "likely",
                doubt="" if part.is_sure else "these layers are given, and may be frozen",
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


def _has_had_its_own(training: Training, backward: Backward, cut: Op) -> bool:
    """Whether another backward goes through what is detached: then the model learns from it there."""
    return any(
        is_made_of(other.loss, cut.inputs[0], with_graph=True)
        for other in training.events(Backward)
        if other is not backward and cut.inputs
    )
