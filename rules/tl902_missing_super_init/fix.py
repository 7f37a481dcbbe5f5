from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import BeginWith, Proposal, safe

_CALL = "super().__init__()"
_SAME = (_CALL, "super(_class, _self).__init__()", "torch.nn.Module.__init__(_self)")


def fix(finding: Finding) -> Iterator[Proposal]:
    yield safe(f"Start with `{_CALL}`", BeginWith(finding.at, _CALL, _SAME, "torch.nn.Module"))
