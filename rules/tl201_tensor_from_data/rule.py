from collections.abc import Iterator

from trainlint.facts.events import Backward
from trainlint.facts.flow import starving
from trainlint.facts.torch_api import REBUILDS
from trainlint.facts.values import constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Backward, level="error")
def check(backward: Backward) -> Iterator[Finding]:
    for cut in starving(backward.loss):
        hidden = constant(cut.options.get("requires_grad")) is True
        if cut.name in REBUILDS and cut.at is not None and not hidden:
            yield Finding(
                cut.at,
                f"`{cut.text}` makes a new tensor out of the values alone: no gradient passes it, and the parameters "
                "behind it never learn from this loss. Keep the tensor itself, with `reshape`, `to` and the like.",
                (Because(backward.at, "the gradient starts here"),),
            )
