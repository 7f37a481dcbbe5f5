from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, SetArgument, safe


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("calls_nothing_else"):  # another function does not know the argument
        yield safe("Pass `use_reentrant=False`", SetArgument(finding.at, "use_reentrant", "False"))
