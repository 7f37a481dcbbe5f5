from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, PutUnder, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("only_evaluated"):
        yield unsafe("Wrap it in `torch.no_grad()`", PutUnder(finding.at, "torch.no_grad()"))
