from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import DropArgument, Proposal, SetArgument, safe, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("always"):
        yield safe("Remove `shuffle`", DropArgument(finding.at, "shuffle", "True"))
    elif "name" in finding.clues:
        name = finding.clues["name"]
        yield unsafe(
            f"Shuffle only without a {name}",
            SetArgument(finding.at, "shuffle", f"_{name} is None", given="True"),
        )
