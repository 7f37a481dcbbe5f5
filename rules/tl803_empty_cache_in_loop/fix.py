from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import DropStatement, Proposal, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    yield unsafe("Remove `empty_cache()`", DropStatement(finding.at))
