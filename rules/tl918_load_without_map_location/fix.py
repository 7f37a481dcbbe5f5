from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, SetArgument, safe, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    make = safe if finding.clues.get("is_state") else unsafe  # a module copies the state to its own device
    yield make('Pass `map_location="cpu"`', SetArgument(finding.at, "map_location", '"cpu"', position=1))
