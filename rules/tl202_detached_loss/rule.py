from collections.abc import Iterator

from trainlint.facts.events import Backward
from trainlint.facts.flow import starving
from trainlint.facts.torch_api import REBUILDS
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Backward, level="error")
def check(backward: Backward) -> Iterator[Finding]:
    for cut in starving(backward.loss):
        if cut.name not in REBUILDS and cut.at is not None:
            yield Finding(
                cut.at,
                f"`{cut.text}` cuts the loss off from the model: what is left has no gradient, and the parameters behind "
                "it never learn from it. Detach only what is logged.",
                (Because(backward.at, "the gradient starts here"),),
            )
