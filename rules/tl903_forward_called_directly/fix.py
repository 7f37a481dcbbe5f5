from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, safe


def fix(finding: Finding) -> Iterator[Proposal]:
    call = Rewrite(finding.at, (("_module.forward(*_more)", "_module(*_more)"),))
    yield safe("Call the module itself", call)
