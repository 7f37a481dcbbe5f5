from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, unsafe

_TENSORS = (
    ("_new(_x.data)", "_x"),
    ("_new(_x.detach())", "_x"),
    ("_new(_x.detach().numpy())", "_x"),
    ("_new(_x.detach().cpu().numpy())", "_x"),
    ("_new(_x)", "_x"),
    ("_new(_x, dtype=_type)", "_x.to(_type)"),
)
_LISTS = (("_new(_list)", "torch.stack(_list)"),)


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("of_list"):
        yield unsafe("Stack the tensors", Rewrite(finding.at, _LISTS))
    else:
        yield unsafe("Keep the tensor itself", Rewrite(finding.at, _TENSORS))
