from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, safe, unsafe

_CUDNN = "torch.backends.cudnn"


def fix(finding: Finding) -> Iterator[Proposal]:
    if not finding.clues:
        both = (("_cudnn.benchmark = True", "_cudnn.benchmark = False"),)
        yield unsafe("Disable `cudnn.benchmark`", Rewrite(finding.at, both))
        return
    given, meant = finding.clues["given"], finding.clues["meant"]
    if given.startswith(f"{_CUDNN}."):
        cases = ((f"_cudnn.{given.rpartition('.')[2]}", f"_cudnn.{meant}"),)
    else:
        cases = (("_switch", f"{_CUDNN}.{meant}"),)
    yield safe(f"Set cudnn.{meant}", Rewrite(finding.at, cases))
