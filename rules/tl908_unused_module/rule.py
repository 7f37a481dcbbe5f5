from collections.abc import Iterator

from trainlint.facts.model.modules import Unread
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Unread, level="warning")
def check(found: Unread) -> Iterator[Finding]:
    yield Finding(
        found.at,
        f"`{found.module}` keeps this `{found.layer}` as `self.{found.attribute}`, and nothing ever reads that: its weights "
        "are stored, moved and handed to the optimizer, but no gradient reaches them. Call it in `forward`, or remove it.",
        subject=found.attribute,
        evidence={"calls of it": found.calls} if found.calls is not None else {},
    )
