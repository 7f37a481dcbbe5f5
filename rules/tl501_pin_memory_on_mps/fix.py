from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, SetArgument, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    pinned = SetArgument(finding.at, "pin_memory", "torch.cuda.is_available()", position=7, given="True")
    yield unsafe("Pin memory only for CUDA", pinned)
