"""Scores of a convolution, `[batch, classes, rows, columns]`, that a view turns into rows of classes."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.sizes import is_same_size
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value

from .axes import sizes
from .orders import convolution, position_in

_OVER_CLASSES = ("cross_entropy", "nll_loss")
_SAME = frozenset("output to float double half bfloat16 type log_softmax softmax contiguous * /".split())
_WIDENS = ("interpolate", "upsample", "unfold", "pixel_shuffle", "torch.nn.Upsample", "torch.nn.PixelShuffle")


def mixed_scores(training: Training) -> Iterator[tuple[LossCall, Op, bool]]:
    """Losses of one target for each pixel or step whose scores a view has mixed, that view, and whether there certainly
    is more than one pixel."""
    for loss in training.events(LossCall):
        if loss.function not in _OVER_CLASSES or not _is_flat(loss.target):
            continue
        view = loss.input
        while isinstance(view, Op) and view.name in _SAME and view.inputs:
            view = view.inputs[0]
        made = convolution(view.inputs[0]) if isinstance(view, Op) and view.inputs else None
        if isinstance(view, Op) and view.seen is None and made is not None and _ends_in_channels(view, made):
            yield loss, view, _is_widened(made)


def mixed_in_run(recorded: Recorded) -> Iterator[tuple[LossCall, Op, Op]]:
    """The same where a run has shown the shapes: losses, views, and the scores that they were given."""
    for loss in recorded.events(LossCall):
        view = loss.input
        while isinstance(view, Op) and view.name in _SAME and view.inputs:
            view = view.inputs[0]
        given = view.inputs[0] if isinstance(view, Op) and view.inputs else None
        if loss.function not in _OVER_CLASSES or not isinstance(view, Op) or not isinstance(given, Op):
            continue
        if view.name in ("view", "reshape") and view.seen is not None and given.seen is not None:
            before, after = given.seen.shape, view.seen.shape
            if len(after) == 2 and len(before) > 2 and before[1] == after[1] != before[-1]:
                yield loss, view, given


def _is_flat(target: Value | None) -> bool:
    """Whether targets were put in one row."""
    while isinstance(target, Op) and target.name in (*_SAME, "long") and target.inputs:
        target = target.inputs[0]
    if not isinstance(target, Op):
        return False
    if target.name in ("view", "reshape"):
        return [number_of(one) for one in sizes(target)] == [-1]
    return target.name in ("flatten", "ravel") and len(target.inputs) == 1 and not target.options


def _ends_in_channels(view: Op, made: Op) -> bool:
    """Whether a view has two axes, of which the last is as long as there are channels."""
    given = sizes(view)
    if view.name not in ("view", "reshape") or len(given) != 2 or made.owner is None:
        return False
    channels = made.owner.argument(1, "out_channels")
    return position_in(view.inputs[0], given[1]) == 1 or (
        channels is not None and is_same_size(channels, given[1])
    )


def _is_widened(made: Op) -> bool:
    """Whether rows and columns were made more on the way, so that there is not one alone."""
    return any(
        isinstance(one, Op) and (one.name.startswith("conv_transpose") or one.name in _WIDENS)
        for one in reached([made])
    )
