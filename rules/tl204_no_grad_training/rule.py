from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment, cuts, terms
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.guards import ask_for_graph, ask_for_mode
from trainlint.facts.ask.parts_cut import never_learns, parts_cut, perhaps_cut
from trainlint.facts.ask.starving import unrecorded_terms
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, compatible
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .followed import never_learning
from .left_off import left_off
from .to_blame import to_blame

_ALL = "the loss is computed from its result: `backward()` raises, or reaches no parameter. Move it out of `no_grad`."
_TERM = "a term of the loss is computed from its result: this term changes no parameter. Move it out of `no_grad`."


@rule(Training, level="error", confidence="likely")
def check(training: Training) -> Iterator[Finding | Open]:
    for at in perhaps_cut(training):
        yield Open(at, "parameters that an optimizer holds got no gradient")
    for backward in training.events(Backward):
        if ask_for_mode(backward.guards) or ask_for_graph(backward.guards):
            continue  # a method that steps in training mode, or with a graph, and is called for validation too
        found = [op for term in unrecorded_terms(backward.loss) for op in to_blame(training, term)]
        if not found or _has_another_way(training, backward):
            continue
        rest = _TERM if attachment(backward.loss).attached else _ALL
        for op in found:
            if op.at is None or (_is_held_against(backward, op) and not never_learns(training, backward, op)):
                continue
            yield Finding(
                op.at,
                f"`{op.text or op.name}` runs with gradients disabled, but {rest}",
                (Because(backward.at, "`backward()` starts here"),),
                evidence=of_cut(training, op),
            )
    for switch, backward in left_off(training):
        yield Finding(
            switch.at,
            "This switches gradients off for good, and the next iteration of the loop trains again: `backward()` raises, or "
            "reaches no parameter. Switch them on again, or use `with torch.no_grad():`.",
            (Because(backward.at, "`backward()` finds gradients switched off here"),),
        )
    for one in never_learning(training):
        if one.output.at is not None:
            yield Finding(
                one.output.at,
                f"`{one.output.text or one.output.name}` runs with gradients disabled, so its parameters never learn, though "
                "another module follows them as a moving average, and what comes after it is trained. Move it out of "
                "`no_grad`.",
                (
                    Because(one.backward.at, "`backward()` starts here"),
                    Because(one.change.at, "the other module follows its parameters here"),
                ),
                confidence="likely",
                doubt="other code may train it",
                is_shown_by_runs=False,
            )
    for part in parts_cut(training):
        if not cuts(part.op) and part.op.at is not None:
            yield Finding(
                part.op.at,
                f"`{part.op.text}` runs with gradients disabled, so its parameters never learn, though "
                f"`{training.name_of(part.step)}` holds them and what follows is trained. Move it out of "
                "`no_grad`, or leave its parameters out of the optimizer.",
                (
                    Because(part.backward.at, "`backward()` starts here"),
                    Because(part.step.at, "this optimizer holds its parameters"),
                ),
                confidence="likely" if part.doubt else "certain",
                doubt=part.doubt,
            )


def _has_another_way(training: Training, backward: Backward) -> bool:
    """Whether this loss is only one where a condition does not hold, as of a `forward` that computes the loss of labels if
    it is given some, and predictions if not: the loss of the other way, in the same call, has gradients."""
    return any(
        one.at == backward.at
        and one.calls == backward.calls
        and not compatible(one.guards, backward.guards)
        and attachment(one.loss).attached
        for one in training.events(Backward)
    )


def _is_held_against(backward: Backward, still: Op) -> bool:
    """Whether the loss holds what the same module gives with gradients against it: `fake.mean() - real.mean()`."""
    return any(
        isinstance(one, Op) and one.name == "output" and one.owner is still.owner and one.records is not False
        for one in reached(terms(backward.loss))
    )
