from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import MoveLast, Proposal, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    yield unsafe("Step the scheduler at the end of the iteration", MoveLast(finding.at))
