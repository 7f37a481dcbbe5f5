from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import DropArgument, Proposal, safe


def fix(finding: Finding) -> Iterator[Proposal]:
    yield safe("Leave `set_to_none` at its default", DropArgument(finding.at, "set_to_none", "False"))
