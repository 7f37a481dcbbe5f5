from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, SwapArguments, safe


def fix(finding: Finding) -> Iterator[Proposal]:
    yield safe("Pass the prediction first", SwapArguments(finding.at))
