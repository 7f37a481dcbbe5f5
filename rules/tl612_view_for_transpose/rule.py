from collections.abc import Iterator

from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op
from trainlint.finding import Finding, Open
from trainlint.rule import rule

from .axes import moved


@rule(Training, level="error")
def check(training: Training) -> Iterator[Finding | Open]:
    views = [one for one in training.events(Operation) if one.output.name in ("view", "reshape")]
    shifted = {of.uid for one in views if (of := _cut_from(one.output)) is not None}
    for operation in views:
        view = operation.output
        if view.uid in shifted:
            continue
        position = moved(view)
        if position is None:
            if view.seen is not None:
                yield Open(operation.at, "which axes these are")
            continue
        given = view.inputs[0]
        if isinstance(given, Op) and given.name == "pad":
            continue  # rows of another length: the shift is on purpose
        shapes = {}
        if view.seen is not None and isinstance(given, Op) and given.seen is not None:
            shapes = {"before": list(given.seen.shape), "after": list(view.seen.shape)}
        yield Finding(
            operation.at,
            f"`{view.name}` keeps the elements in memory order, so this mixes positions instead of moving "
            f"axis 1 to position {position}. Use `transpose(1, 2)` or `permute`, after splitting the last "
            "axis in place, and before merging it again.",
            evidence=shapes,
        )


def _cut_from(view: Op) -> Op | None:
    """What a view was sliced from, as in a relative shift: a view with one more column, a slice, and a view of that."""
    cut = view.inputs[0] if view.inputs else None
    whole = cut.inputs[0] if isinstance(cut, Op) and cut.name in ("getitem", "narrow") else None
    return whole if isinstance(whole, Op) else None
