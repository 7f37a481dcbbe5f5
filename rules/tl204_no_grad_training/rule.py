from collections.abc import Iterator

from trainlint.facts.events import Backward
from trainlint.facts.flow import unrecorded
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Backward, level="error")
def check(backward: Backward) -> Iterator[Finding]:
    for op in unrecorded(backward.loss):
        if op.at is not None:
            yield Finding(
                op.at,
                f"`{op.text}` runs while gradients are switched off, but its result is trained on: `backward()` raises, or "
                "reaches no parameter. Move it out of `no_grad`.",
                (Because(backward.at, "the gradient starts here"),),
            )
