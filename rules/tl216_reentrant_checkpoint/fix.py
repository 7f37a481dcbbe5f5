from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, safe

_CALLED = ("_imported(*_more)", "_imported(*_more, use_reentrant=False)")
"""Not what a variable holds: that may be another function, which does not know the argument."""


def fix(finding: Finding) -> Iterator[Proposal]:
    yield safe("Pass `use_reentrant=False`", Rewrite(finding.at, (_CALLED,)))
