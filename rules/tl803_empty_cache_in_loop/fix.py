from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import DropStatement, Proposal, safe


def fix(finding: Finding) -> Iterator[Proposal]:
    yield safe("Leave the memory with torch", DropStatement(finding.at))
