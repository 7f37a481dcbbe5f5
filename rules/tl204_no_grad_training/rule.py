from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import cuts, terms, unrecorded
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.guards import ask_for_mode
from trainlint.facts.ask.parts_cut import parts_cut
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    for backward in training.events(Backward):
        if ask_for_mode(backward.guards):
            continue  # a method that steps in training mode alone, and is called for validation too
        for op in unrecorded(backward.loss):
            if op.at is not None and not _is_held_against(backward, op):
                yield Finding(
                    op.at,
                    f"`{op.text}` runs with gradients disabled, but the loss is computed from its result: "
                    "`backward()` raises, or reaches no parameter. Move it out of `no_grad`.",
                    (Because(backward.at, "`backward()` starts here"),),
                    evidence=of_cut(training, op),
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
                confidence="certain" if part.is_sure else "likely",
                doubt="" if part.is_sure else "these layers are given, and may be frozen",
            )


def _is_held_against(backward: Backward, still: Op) -> bool:
    """Whether the loss holds what the same module gives with gradients against it: `fake.mean() - real.mean()`."""
    return any(
        isinstance(one, Op) and one.name == "output" and one.owner is still.owner and one.records is not False
        for one in reached(terms(backward.loss), lambda value: value.parts())
    )
