from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, SetArgument, safe, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("is_module"):
        return  # it is the file that has to change
    title = "Load with `weights_only=True`"
    new = SetArgument(finding.at, "weights_only", "True")
    changed = SetArgument(finding.at, "weights_only", "True", given="False")
    make = safe if finding.clues.get("is_state") else unsafe  # other objects in the file may be rejected
    yield make(title, changed)
    yield make(title, new)
