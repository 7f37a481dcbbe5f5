from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, safe, unsafe


def fix(finding: Finding) -> Iterator[Proposal]:
    make = f"torch.{finding.clues.get('name')}"
    cases = (
        (f"{make}(*_more).to(_device)", f"{make}(*_more, device=_device)"),
        (f"{make}(*_more).to(device=_device)", f"{make}(*_more, device=_device)"),
        (f"{make}(*_more).to(_device, non_blocking=_late)", f"{make}(*_more, device=_device)"),
        (f"{make}(*_more).cuda()", f'{make}(*_more, device="cuda")'),
        (f"{make}(*_more).cuda(_device)", f"{make}(*_more, device=_device)"),
    )
    # Each device has its own generator, and a moved tensor is not a leaf, as a created one is.
    differs = finding.clues.get("is_random") or finding.clues.get("wants_gradient")
    offer = unsafe if differs else safe
    yield offer("Make it on the device", Rewrite(finding.at, cases))
