from collections.abc import Iterator

from trainlint.facts.axes import moved
from trainlint.facts.events import Operation
from trainlint.facts.training import Training
from trainlint.facts.values import Op
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding]:
    for operation in training.events(Operation):
        view = operation.output
        if view.name not in ("view", "reshape"):
            continue
        position = moved(view)
        if position is None:
            if view.seen is not None:
                training.leave_open(operation.at)
            continue
        given = view.inputs[0]
        shapes = {}
        if view.seen is not None and isinstance(given, Op) and given.seen is not None:
            shapes = {"before": list(given.seen.shape), "after": list(view.seen.shape)}
        yield Finding(
            operation.at,
            f"`{view.name}` keeps the numbers in their order, so this puts parts of other positions where axis 1 is to go, "
            f"at {position}: the axes are relabelled, not moved. Move them by `transpose(1, 2)` or `permute`, after the "
            "last axis is split where it is, and before it is merged again.",
            evidence=shapes,
        )
