from collections.abc import Iterator, Sequence

from trainlint.facts.api.gradients import REBUILDS
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.evidence import of_cut
from trainlint.facts.ask.number_terms import number_terms
from trainlint.facts.ask.numbers import perhaps_of_outputs
from trainlint.facts.ask.parts_cut import parts_cut, perhaps_cut
from trainlint.facts.ask.starving import starving
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Op, Value, constant
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .losses_copied import copied_losses


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
        yield from _rebuilt(backward)
        if not isinstance(training, Recorded):
            yield from _copied_terms(backward)
    for copied in copied_losses(training):
        yield Finding(
            copied.copy.at or copied.backward.at,
            f"`{copied.copy.text}` copies the numbers of the losses into a new tensor without a graph, and no other way leads "
            "from a `backward()` to them: what they were computed with never learns. Keep the graph with `torch.stack`.",
            (Because(copied.backward.at, "`backward()` starts here"),),
            confidence="likely",
            doubt="code that is not in sight may train on these losses",
            clues={"of_list": True},
            is_shown_by_runs=False,
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


def _copied_terms(backward: Backward) -> Iterator[Finding]:
    """Terms that are copies of what a model gives whose layers are not in sight."""
    for cut in number_terms(backward.loss):
        if cut.name == "tensor" and cut.at is not None and cut not in starving(backward.loss):
            yield Finding(
                cut.at,
                f"`{cut.text}` copies the values into a new tensor without a graph: this term of the loss changes no parameter. "
                "Keep the original tensor, and change it with `reshape`, `to` and the like.",
                (Because(backward.at, "`backward()` starts here"),),
                confidence="likely",
                doubt="what the model does is not in sight",
                clues={"of_list": False},
                is_shown_by_runs=False,
            )


def _rebuilt(backward: Backward) -> Iterator[Finding]:
    """A loss that is made of one new tensor of a list, and of numbers: whatever that has to do with parameters."""
    ends = [one for one in reached([backward.loss], _computed_of) if not _computed_of(one)]
    copies = [one for one in ends if not isinstance(one, Constant)]
    copy = copies[0] if len(copies) == 1 else None
    if isinstance(copy, Op) and _is_copy_of_list(copy) and copy.at and not attachment(copy).is_starved:
        yield Finding(
            copy.at,
            f"`{copy.text}` copies the values into a new tensor without a graph, so `backward()` raises. Keep the graph "
            "with `torch.stack`.",
            (Because(backward.at, "`backward()` starts here"),),
            clues={"of_list": True},
        )


_PLAIN = frozenset("+ - * / add sub mul div neg mean sum stack cat output scale".split())


def _computed_of(value: Value) -> Sequence[Value]:
    """What a value is computed of, by sums and products."""
    is_plain = isinstance(value, Op) and value.name in _PLAIN and not value.written
    return value.inputs if is_plain and isinstance(value, Op) else ()


def _is_copy_of_list(copy: Op) -> bool:
    if copy.name != "tensor" or copy.is_leaf or "requires_grad" in copy.options:
        return False
    given = copy.inputs[0] if copy.inputs else None
    return isinstance(given, Items) and any(isinstance(one, Op) for one in given.items)
