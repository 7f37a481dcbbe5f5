from collections.abc import Iterator

from trainlint.facts.api.gradients import REBUILDS
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.numbers import perhaps_of_outputs
from trainlint.facts.ask.parts_cut import parts_cut, perhaps_cut
from trainlint.facts.ask.starving import starving
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, constant
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding | Open]:
    for at in perhaps_cut(training):
        yield Open(at, "parameters that an optimizer holds got no gradient")
    yield from perhaps_of_outputs(training)
    for backward in training.events(Backward):
        for cut in starving(backward.loss):
            hidden = constant(cut.options.get("requires_grad")) is True
            if cut.name in REBUILDS and cut.at is not None and not hidden:
                yield Finding(
                    cut.at,
                    f"`{cut.text}` copies the values into a new tensor without a graph: the parameters "
                    "before it get no gradient from this loss. Keep the original tensor, and change it with "
                    "`reshape`, `to` and the like.",
                    (Because(backward.at, "`backward()` starts here"),),
                    evidence=of_cut(training, cut),
                    clues={"of_list": any(isinstance(one, Items) for one in cut.inputs)},
                )
    for part in parts_cut(training):
        cut = part.op
        if (
            cut.name in REBUILDS
            and cut.at is not None
            and constant(cut.options.get("requires_grad")) is not True
        ):
            yield Finding(
                cut.at,
                f"`{cut.text}` copies the values into a new tensor without a graph: the parameters before it never "
                f"learn, though `{training.name_of(part.step)}` holds them. Keep the original tensor.",
                (
                    Because(part.backward.at, "`backward()` starts here"),
                    Because(part.step.at, "this optimizer holds their parameters"),
                ),
                confidence="likely" if part.doubt else "certain",
                doubt=part.doubt,
            )
