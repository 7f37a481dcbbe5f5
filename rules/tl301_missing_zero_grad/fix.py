from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Insert, Proposal, unsafe

_STEPS = {True: ("_scaler.step(_optimizer, *_more)",), False: ("_optimizer.step(*_more)",)}
"""How an optimizer steps, with a scaler and without one."""


def fix(finding: Finding) -> Iterator[Proposal]:
    if "scaled" in finding.clues:
        step = _STEPS[finding.clues["scaled"]]
        clear = Insert(finding.at, "after", "_optimizer.zero_grad()", step, finding.at)
        yield unsafe("Clear the gradients after the step", clear)
