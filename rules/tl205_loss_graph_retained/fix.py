from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, safe

_ADDED = (("_total += _loss", "_total += _loss.detach()"), ("_total + _loss", "_total + _loss.detach()"))


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("joined"):
        return
    yield safe("Detach the loss before adding it", Rewrite(finding.at, _ADDED))
