from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Insert, Proposal, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    step = "_scaler.step(_optimizer, *_more)"
    unscale = Insert(finding.at, "before", "_scaler.unscale_(_optimizer)", (step,), finding.because[0].at)
    yield unsafe("Unscale before clipping", unscale)
