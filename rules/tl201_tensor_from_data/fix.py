from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, unsafe

_TENSORS = (
    ("_imported(_x.data)", "_x"),
    ("_imported(_x.detach())", "_x"),
    ("_imported(_x.detach().numpy())", "_x"),
    ("_imported(_x.detach().cpu().numpy())", "_x"),
    ("_imported(_x)", "_x"),
    ("_imported(_x, dtype=_type)", "_x.to(_type)"),
)
_LISTS = (("_imported(_list)", "torch.stack(_list)"),)


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("of_list"):
        yield unsafe("Stack the tensors", Rewrite(finding.at, _LISTS))
    else:
        yield unsafe("Use the original tensor", Rewrite(finding.at, _TENSORS))
