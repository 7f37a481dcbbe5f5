from collections.abc import Iterator

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.texts import Tokenized
from trainlint.finding import Finding
from trainlint.rule import rule

_SHARE = 0.1


@rule(Recorded, level="info", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    for seen in recorded.facts(Tokenized):
        if seen.cut > 1 and seen.cut >= _SHARE * seen.sequences:
            total = seen.kept + seen.dropped
            yield Finding(
                seen.at,
                f"{seen.cut} of the first {seen.sequences} texts are truncated at {seen.limit} tokens, which "
                f"drops {seen.dropped / total:.0%} of all their tokens. If the rest of these texts matters, "
                "raise `max_length` or split long texts.",
                evidence={
                    "texts": seen.sequences,
                    "of them truncated": seen.cut,
                    "tokens at most": seen.limit,
                    "tokens kept": seen.kept,
                    "tokens dropped": seen.dropped,
                },
            )
