from collections.abc import Iterator

from trainlint.finding import Finding
from trainlint.fix import Proposal, Rewrite, safe


def fix(finding: Finding) -> Iterator[Proposal]:
    match finding.clues.get("name", "").split("."):
        case [_, device, "amp", *_, name]:
            yield safe(f"Replace with torch.amp.{name}", Rewrite(finding.at, _cases(name, device)))


def _cases(name: str, device: str) -> tuple[tuple[str, str], ...]:
    new = f"torch.amp.{name}"
    match name:
        case "autocast":  # its arguments are in another order now
            return (
                ("_imported(**_more)", f'{new}("{device}", **_more)'),
                ("_imported(_on, **_more)", f'{new}("{device}", enabled=_on, **_more)'),
                ("_imported(_on, _type, **_more)", f'{new}("{device}", enabled=_on, dtype=_type, **_more)'),
                (
                    "_imported(_on, _type, _cache)",
                    f'{new}("{device}", enabled=_on, dtype=_type, cache_enabled=_cache)',
                ),
            )
        case "GradScaler":
            return (("_imported(*_more)", f'{new}("{device}", *_more)'),)
        case _:  # a decorator, with options or without
            return (
                ("_imported(*_more)", f'{new}(*_more, device_type="{device}")'),
                ("_imported", f'{new}(device_type="{device}")'),
            )
