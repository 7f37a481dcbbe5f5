from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import DropStatement, Proposal, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    yield unsafe("Leave the memory with torch", DropStatement(finding.at))
