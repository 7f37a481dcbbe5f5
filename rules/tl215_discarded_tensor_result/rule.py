from collections.abc import Iterator

from trainlint.facts.api.layers import MAKES_ANOTHER
from trainlint.facts.api.operations import UNMISTAKABLE
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.events.operations import Discarded
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
    if is_certain:
        yield Finding(
            discarded.at,
            f"`{discarded.text}` returns a new tensor and does not change this one, and the result is "
            "discarded: the line has no effect. Assign the result.",
        )
