from collections.abc import Iterator

from trainlint.facts.model.modules import Unread
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(
    Unread,
    level="warning",
    confidence="likely",
    absence=True,
    explained_by=r"\bkept\b|\bkeep\b|compat|\bunused\b|not used|checkpoint|state_?dict|legacy|placeholder|\btodo\b",
    commented_out=r"\b\w+\.SUBJECT\b(?!\s*=[^=])",
)
def check(found: Unread) -> Iterator[Finding]:
    yield Finding(
        found.at,
        f"`{found.module}` stores this `{found.layer}` as `self.{found.attribute}`, but nothing ever reads "
        "it: its weights are among the model's parameters and in its checkpoints, but get no gradient. Call "
        "it in `forward`, or remove it.",
        subject=found.attribute,
        evidence={"its calls": found.calls} if found.calls is not None else {},
    )
