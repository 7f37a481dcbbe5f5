from collections.abc import Iterator
from dataclasses import replace

from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op
from trainlint.finding import Because, Finding, Open, Place
from trainlint.rule import rule

from .axes import moved
from .heads import merges_heads
from .orders import is_flat, turned
from .scores import mixed_in_run, mixed_scores
from .states import mixed_states


@rule(Training, level="error", confidence="likely", words="LSTM GRU RNN view reshape")
def check(training: Training) -> Iterator[Finding | Open]:
    yield from _of_scores(training)
    views = [one for one in training.events(Operation) if one.output.name in ("view", "reshape")]
    shifted = {of.uid for one in views if (of := _cut_from(one.output)) is not None}
    flattened = {one.output.inputs[0].uid for one in views if is_flat(one.output)}
    for operation in views:
        view = operation.output
        if view.uid in shifted or view.uid in flattened:
            continue
        if (states := mixed_states(view)) is not None:
            yield Finding(
                operation.at,
                f"The {states} states of each sample are on axis 0, and `{view.name}` keeps the elements in memory order, "
                "so each row gets states of several samples. Use `transpose(0, 1)` first, or `torch.cat` of the "
                "states.",
            )
            continue
        position, axis = moved(view), 1
        if position is None and merges_heads(view):
            axis, position = 2, 1
        if position is None:
            axis, position = turned(view) or (axis, None)
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
            f"axis {axis} to position {position}. Use `transpose` or `permute`, after splitting the last "
            "axis in place, and before merging it again.",
            evidence=shapes,
        )


def _of_scores(training: Training) -> Iterator[Finding]:
    """Scores for each pixel, with the classes on axis 1, that a view puts in rows."""
    for loss, view, is_sure in mixed_scores(training):
        if view.at is not None:
            yield replace(
                _mixed(loss, view, view.at),
                confidence="certain" if is_sure else "likely",
                doubt="" if is_sure else "the convolution may give a single place for each sample",
            )
    for loss, view, given in mixed_in_run(training) if isinstance(training, Recorded) else ():
        if view.at is not None and view.seen is not None and given.seen is not None:
            shapes = {"before": list(given.seen.shape), "after": list(view.seen.shape)}
            yield replace(_mixed(loss, view, view.at), evidence=shapes)


def _mixed(loss: LossCall, view: Op, at: Place) -> Finding:
    return Finding(
        at,
        f"The classes are on axis 1 of these scores, and `{view.name}` keeps the elements in memory order, so each "
        "row gets scores of one class at several places. Move the classes to the end first, with "
        "`movedim(1, -1)`, or pass scores and targets to the loss as they are.",
        (Because(loss.at, "each row is compared with the target of one place here"),),
    )


def _cut_from(view: Op) -> Op | None:
    """What a view was sliced from, as in a relative shift: a view with one more column, a slice, and a view of that."""
    cut = view.inputs[0] if view.inputs else None
    whole = cut.inputs[0] if isinstance(cut, Op) and cut.name in ("getitem", "narrow") else None
    return whole if isinstance(whole, Op) else None
