from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    yield unsafe("Use `.detach()`", Rewrite(finding.at, (("_x.data", "_x.detach()"),)))
