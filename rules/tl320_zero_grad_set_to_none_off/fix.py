from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import DropArgument, Proposal, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    yield unsafe("Leave `set_to_none` at its default", DropArgument(finding.at, "set_to_none", "False"))
