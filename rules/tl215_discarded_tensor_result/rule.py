from collections.abc import Iterator

from trainlint.facts.api.layers import MAKES_ANOTHER
from trainlint.facts.api.operations import UNMISTAKABLE
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.events.operations import Discarded
from trainlint.facts.model.values import Op, Value, constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Discarded, level="warning", by="S")
def check(discarded: Discarded) -> Iterator[Finding]:
    if discarded.name == MAKES_ANOTHER:
        yield Finding(
            discarded.at,
            f"`{discarded.text}` returns a new layer and does not change this one, and the result is "
            "discarded: the pretrained weights are never used. Assign the result.",
        )
        return
    is_certain = not discarded.is_method or discarded.name in UNMISTAKABLE or is_tensor(discarded.tensor)
    if is_certain or (discarded.name in ("to", "cuda") and is_part_of_batch(discarded.tensor)):
        yield Finding(
            discarded.at,
            f"`{discarded.text}` returns a new tensor and does not change this one, and the result is "
            "discarded: the line has no effect. Assign the result.",
            confidence=None if is_certain else "likely",
            doubt="" if is_certain else "this part of the batch may be no tensor",
        )


def is_part_of_batch(value: Value) -> bool:
    """Whether a value is one of several that a loop takes apart: `for x, y in loader`. A whole batch may be an object
    that `to` changes in place."""
    match value:
        case Op(name="getitem", inputs=(Op(name="iterate"), *_)):
            return isinstance(constant(value.options.get("index")), int)
    return False
