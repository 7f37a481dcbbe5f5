from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, SetArgument, safe


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("what") == "function":
        yield safe("Pass `training=self.training`", SetArgument(finding.at, "training", "_self.training"))
    elif finding.clues.get("what") == "attention":
        share, position = "_given if _self.training else 0.0", finding.clues.get("position", 4)
        yield safe(
            "Drop in training alone",
            SetArgument(finding.at, "dropout_p", share, position=position, given="_share"),
        )
