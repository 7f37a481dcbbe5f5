from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, safe, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    name = finding.clues.get("name")
    if name is None:
        return
    if finding.clues.get("of_module"):
        set_all = ((f"_module.{name} = _wanted", "_module.requires_grad_(_wanted)"),)
        yield safe("Call `requires_grad_`", Rewrite(finding.at, set_all))
    else:
        rename = Rewrite(finding.at, ((f"_x.{name}", "_x.requires_grad"),))
        is_known = finding.clues.get("of_tensor")  # on a module, `requires_grad` has no effect either
        yield (safe if is_known else unsafe)("Write `requires_grad`", rename)
