from collections.abc import Iterator

from trainlint.facts.model.recorded import Recorded
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Recorded, level="error", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    failure = recorded.fatal
    if failure is None or failure.operation not in ("embedding", "embedding_bag") or failure.largest is None:
        return
    rows = next(
        (shape[0] for shape, dtype, _ in failure.inputs if "float" in dtype and len(shape) == 2), None
    )
    if rows is None or failure.smallest is None or failure.is_of_positions:
        return
    low, high = int(failure.smallest), int(failure.largest)
    evidence: dict[str, float] = {"smallest id": low, "largest id": high, "rows": rows}
    if high >= rows:
        yield Finding(
            failure.at,
            f"Token {high} is looked up in an embedding of {rows} rows, whose last is {rows - 1}. Create the "
            "embedding with the size of the whole vocabulary, special tokens included.",
            evidence=evidence,
        )
    elif low < 0:
        yield Finding(
            failure.at,
            f"Token {low} is looked up in an embedding, whose rows start at 0. If it is the `ignore_index` "
            "of the loss, use it only in the labels, and pass a padding token to the model.",
            evidence=evidence,
        )
