from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, unsafe

_OTHERS = (", diagonal=_d", ", _d")
_CASES = (
    *((f"torch.tril(_x{given})", "torch.tril(_x)") for given in _OTHERS),
    *((f"_x.tril({given[2:]})", "_x.tril()") for given in _OTHERS),
    *((f"torch.triu(_x{given})", "torch.triu(_x, diagonal=1)") for given in ("", *_OTHERS)),
    *((f"_x.triu({given[2:]})", "_x.triu(diagonal=1)") for given in ("", *_OTHERS)),
)


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.because:
        yield unsafe("Correct the diagonal of the mask", Rewrite(finding.because[0].at, _CASES))
