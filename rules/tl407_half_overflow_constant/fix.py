from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    limit = finding.clues.get("limit")
    if limit is not None:
        cases = (
            (f"_the_x.{name}(_mask, _fill)", f"_the_x.{name}(_mask, torch.finfo(_the_x.dtype).{limit})")
            for name in ("masked_fill", "masked_fill_")
        )
        yield unsafe(f"Fill with the {limit} of its dtype", Rewrite(finding.at, tuple(cases)))
