from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    call = Rewrite(finding.at, (("_helper.gather(*_more)", "_helper.gather_for_metrics(*_more)"),))
    yield unsafe("Drop the samples that fill up the last batch", call)
