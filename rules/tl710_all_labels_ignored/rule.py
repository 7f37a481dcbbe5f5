from collections.abc import Iterator

from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.recorded import Recorded
from trainlint.finding import Finding, Place
from trainlint.rule import rule


@rule(Recorded, level="error", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    shares: dict[Place, list[float]] = {}
    for loss in recorded.events(LossCall):
        numbers = loss.output.seen.numbers if loss.output.seen is not None else {}
        if "ignored" in numbers and loss.output.records is not False:
            shares.setdefault(loss.at, []).append(numbers["ignored"])
    for at, found in shares.items():
        empty = sum(share == 1.0 for share in found)
        if not empty:
            continue
        every = empty == len(found)
        which = "Every target" if every else f"In {empty} of {len(found)} batches, every target"
        yield Finding(
            at,
            f"{which} is the index that this loss ignores: the loss is NaN or 0, and nothing is learnt from it. Find out "
            "what sets the labels: a template whose answer marker is not in the text, a prompt as long as the limit, or "
            "a tokenizer without special tokens.",
            level=None if every else "warning",
            evidence={
                "batches": len(found),
                "batches without a label": empty,
                "share ignored": sum(found) / len(found),
            },
        )
