from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.evidence import held
from trainlint.facts.ask.freezing import is_trained
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.ask.stepped import is_certainly_not_stepped
from trainlint.facts.model.events.forwards import Checkpointed
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, constant
from trainlint.facts.seen.raised import Warned
from trainlint.finding import Finding
from trainlint.rule import rule

from .adapters import switched_on
from .inputs import are_without_gradient, without_gradient_by_number

_WORDS = r"checkpoint checkpoint_sequential \w+_checkpointing_enable \w+_checkpointing_kwargs"
_WARNING = "None of the inputs have requires_grad=True"


@rule(Training, level="error", refutable=False, words=_WORDS)
def check(training: Training) -> Iterator[Finding]:
    if isinstance(training, Recorded):
        yield from _seen(training)
        return
    yield from switched_on(training)
    if not training.events(Backward):
        return
    reentrant = [one for one in training.events(Checkpointed) if _is_reentrant(one)]
    known = without_gradient_by_number(reentrant)
    for event in reentrant:
        if are_without_gradient(training, event, known) and _is_to_be_trained(training, event):
            yield Finding(
                event.at,
                "None of these inputs requires a gradient, and then reentrant checkpointing gives none to anything "
                "inside: its parameters keep their initial values. Pass `use_reentrant=False`.",
            )


def _is_reentrant(event: Checkpointed) -> bool:
    if event.records is False or event.is_open:
        return False
    number = 2 if event.segments is None else constant(event.segments)
    return (event.reentrant is None or constant(event.reentrant) is True) and (
        isinstance(number, int) and number > 1
    )


def _is_to_be_trained(training: Training, event: Checkpointed) -> bool:
    """Whether the output certainly comes out of parameters that are to be trained, on the way from the inputs."""
    if not attachment(event.output).attached or is_certainly_not_stepped(training, event.output):
        return False
    ends = {one.uid for one in event.inputs}
    between = reached([event.output], lambda one: () if one.uid in ends else one.parts())
    return any(
        isinstance(one, Op)
        and one.name != "output"
        and isinstance(one.owner, Object)
        and has_parameters(one.owner) is True
        and is_trained(training, one.owner)
        for one in between
    )


def _seen(run: Recorded) -> Iterator[Finding]:
    starved = [one for one in held(run) if one.expected and not one.reached and one.gradient is None]
    places = {one.at: None for one in run.facts(Warned) if one.message.startswith(_WARNING)}
    for at in places:
        if at is not None and starved:
            yield Finding(
                at,
                "Reentrant checkpointing was given no input that requires a gradient, so nothing inside got one, and "
                f"{len(starved)} parameters of the optimizer have none. Pass `use_reentrant=False`.",
                evidence={
                    "parameters without a gradient": len(starved),
                    "parameters in an optimizer": len(held(run)),
                },
            )
