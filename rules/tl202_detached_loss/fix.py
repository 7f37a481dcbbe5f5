from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, SetArgument, safe, unsafe

_TENSORS = (("_x.detach()", "_x"), ("torch.detach(_x)", "_x"), ("_x.data", "_x"))
_NUMBERS = (("_x.item()", "_x"), ("float(_x)", "_x"), ("_x.numpy()", "_x"))


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("cut") == "autograd.grad":
        yield unsafe(
            "Keep the graph of the gradients", SetArgument(finding.at, "create_graph", "True", position=4)
        )
    elif finding.clues.get("cut") in ("detach", "data"):
        yield safe("Keep the graph", Rewrite(finding.at, _TENSORS))
    else:  # the number becomes a tensor, and may be used for more than the loss
        yield unsafe("Keep the tensor, with its graph", Rewrite(finding.at, _NUMBERS))
