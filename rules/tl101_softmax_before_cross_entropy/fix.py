from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Change, DropItem, Proposal, Rewrite, unsafe

_FUNCTIONS = (
    ("torch.softmax(_x, *_more)", "_x"),
    ("torch.nn.functional.softmax(_x, *_more)", "_x"),
    ("_x.softmax(*_more)", "_x"),
)
_LAYER = (("_layer(_x)", "_x"),)


def fix(finding: Finding) -> Iterator[Proposal]:
    change: Change
    match finding.clues.get("applied"):
        case "item":
            change = DropItem(finding.at, "torch.nn.Sequential")
        case "layer":
            change = Rewrite(finding.at, _LAYER, for_one=True)
        case "function":
            change = Rewrite(finding.at, _FUNCTIONS, for_one=True)
        case _:
            return
    yield unsafe("Pass the logits", change)
