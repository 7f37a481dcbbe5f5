from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, safe


def fix(finding: Finding) -> Iterator[Proposal]:
    yield safe("Keep a copy", Rewrite(finding.at, (("_state", "copy.deepcopy(_state)"),)))
