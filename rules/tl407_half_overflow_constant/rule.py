import math
from collections.abc import Iterator

from trainlint.facts.api.precision import LARGEST_HALF
from trainlint.facts.ask.holding import contained
from trainlint.facts.ask.precision import dtype_of, is_half, number
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.modules import Converted
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import alternatives
from trainlint.facts.seen.raised import Failure
from trainlint.finding import Because, Finding
from trainlint.rule import rule

FILLS = ("masked_fill", "masked_fill_")
SAID = "Half without overflow"


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    for failure in training.facts(Failure):
        if SAID in failure.message:
            yield Finding(
                failure.at,
                f"`{failure.text}` gets a value that float16 cannot represent, and raises: the maximum of "
                "float16 is 65,504. Fill with `torch.finfo(x.dtype).min`, or with `-math.inf`.",
                evidence={"torch says": failure.message},
            )
    for event in training.events(Operation):
        op = event.output
        fill = number(op.option(2, "value")) if op.name in FILLS else None
        if fill is None or math.isinf(fill) or abs(fill) <= LARGEST_HALF:
            continue
        maker = is_half(op.inputs[0], _halved(training, event))
        if maker is not None:
            yield Finding(
                event.at,
                "the maximum of float16 is 65,504, and this tensor can be float16, so filling it with "
                f"{fill:g} raises. Fill with `torch.finfo(x.dtype).min`, or with `-math.inf`.",
                (Because(maker.at, "this is computed in float16"),) if maker.at is not None else (),
                clues={"limit": "min" if fill < 0 else "max"},
            )


def _halved(training: Training, until: Event) -> frozenset[int]:
    """Numbers of the modules whose parameters are float16 when something happens, their parts included."""
    found: set[int] = set()
    if not training.events(Converted):
        return frozenset()
    for event in training.events(Event):
        if event is until:
            break
        if isinstance(event, Converted):
            for module in alternatives(event.module):
                numbers = {one.uid for one in contained(module)}
                found = found | numbers if dtype_of(event.dtype) == "float16" else found - numbers
    return frozenset(found)
