import re
from collections.abc import Iterator

from trainlint.facts.api.layers import EMBEDDING
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.seen.raised import Failure
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .positions import counted, reach

POSITIONAL = re.compile(r"\b(?:pe|wpe|pos\w*)\b|position|_pos\b|pos_", re.IGNORECASE)


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    for operation in training.events(Operation):
        layer = operation.output.owner
        if operation.output.name != EMBEDDING or layer is None:
            continue
        rows, needed = layer.argument(0, "num_embeddings"), reach(operation.output.option(0, "input"))
        held = counted(rows) if rows is not None else None
        if held is not None and needed is not None and needed.exceeds(held):
            yield Finding(
                operation.at,
                f"These positions need {needed.more - held.more} more rows than this embedding has, so the "
                "last ones are out of range and torch raises (on a GPU, without naming the line). Create it "
                "with one row per position of the longest sequence, special tokens included, or start "
                "positions at 0.",
                (Because(layer.at, "the embedding is created here"),) if layer.at is not None else (),
            )
    if isinstance(training, Recorded) and training.fatal is not None:
        yield from _of_failure(training.fatal)


def _of_failure(failure: Failure) -> Iterator[Finding]:
    shapes = [shape for shape, _, _ in failure.inputs]
    if failure.operation == "embedding" and failure.is_of_positions and failure.largest is not None:
        rows = next((one[0] for one, dtype, _ in failure.inputs if "float" in dtype and len(one) == 2), None)
        if rows is not None and failure.largest >= rows:
            yield Finding(
                failure.at,
                f"Position {int(failure.largest)} is looked up in a table of {rows} positions, whose last is "
                f"{rows - 1}. Create it with one row per position of the longest sequence, or truncate "
                "sequences to its length.",
                evidence={"last position": int(failure.largest), "positions in the table": rows},
            )
    elif failure.operation == "+" and len(shapes) == 2 and POSITIONAL.search(failure.text):
        inputs, table = shapes
        if (
            len(table) >= 2
            and len(inputs) >= len(table)
            and inputs[-1] == table[-1]
            and 1 < table[-2] < inputs[-2]
        ):
            yield Finding(
                failure.at,
                f"The table holds {table[-2]} positions, and the sequence has {inputs[-2]}: a slice past its "
                "end is shorter, and the shapes do not match. Create it with one row per position of the "
                "longest sequence, or truncate sequences to its length.",
                evidence={"length": inputs[-2], "positions in the table": table[-2]},
            )
