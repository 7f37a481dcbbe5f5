from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, PutUnder, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    yield unsafe("Put it under `torch.no_grad()`", PutUnder(finding.at, "torch.no_grad()"))
