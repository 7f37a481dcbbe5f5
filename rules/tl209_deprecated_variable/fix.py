from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, safe, unsafe

_MAKERS = "rand randn randint zeros ones empty full arange linspace eye".split()
_LEAVES = (
    *(
        (f"_imported(torch.{name}(*_more), requires_grad=True)", f"torch.{name}(*_more, requires_grad=True)")
        for name in _MAKERS
    ),
    *(
        (f"_imported({cut}, requires_grad=True)", f"{cut}.requires_grad_()")
        for cut in ("_x.detach()", "_x.detach().clone()", "_x.clone().detach()")
    ),
    ("_imported(_x, requires_grad=True)", "_x.detach().requires_grad_()"),
)
_TENSORS = (
    ("_imported(_x)", "_x"),
    ("_imported(_x, requires_grad=False)", "_x"),
    ("_imported(_x, volatile=_v)", "_x"),
    ("_imported(_x, requires_grad=False, volatile=_v)", "_x"),
    ("_imported(_x, requires_grad=_wanted)", "_x.detach().requires_grad_(_wanted)"),
)


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("wants_gradient"):
        yield safe("Call `requires_grad_()` on the tensor", Rewrite(finding.at, _LEAVES))
    elif finding.clues.get("has_no_graph"):
        yield safe("Use the tensor itself", Rewrite(finding.at, _TENSORS))
    else:
        yield unsafe("Use the tensor itself, with its graph", Rewrite(finding.at, _TENSORS))
