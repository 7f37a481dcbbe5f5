from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Change, DropItem, Proposal, Rewrite, unsafe

_FUNCTIONS = (
    ("torch.sigmoid(_x)", "_x"),
    ("torch.nn.functional.sigmoid(_x)", "_x"),
    ("_x.sigmoid()", "_x"),
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
