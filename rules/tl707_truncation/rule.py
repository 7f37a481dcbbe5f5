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
                f"{seen.cut} of the first {seen.sequences} texts are cut at {seen.limit} tokens, and {seen.dropped / total:.0%} "
                "of all their tokens are never seen. If what is cut matters, raise `max_length` or split long texts.",
                evidence={
                    "texts": seen.sequences,
                    "of them cut": seen.cut,
                    "tokens at most": seen.limit,
                    "tokens kept": seen.kept,
                    "tokens dropped": seen.dropped,
                },
            )
