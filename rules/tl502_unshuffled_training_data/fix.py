from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, SetArgument, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("alone"):
        return  # beside a sampler, `shuffle=True` raises
    for given in (None, "False"):
        yield unsafe(
            "Pass `shuffle=True`", SetArgument(finding.at, "shuffle", "True", position=2, given=given)
        )
