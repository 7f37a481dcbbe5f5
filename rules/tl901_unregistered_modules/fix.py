from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, safe

_LIST = (("[]", "torch.nn.ModuleList()"), ("_layers", "torch.nn.ModuleList(_layers)"))


def fix(finding: Finding) -> Iterator[Proposal]:
    if finding.clues.get("of_layers_alone"):
        yield safe("Use nn.ModuleList", Rewrite(finding.at, _LIST))
