from collections.abc import Iterator

from trainlint.facts.events import Backward, LossCall
from trainlint.facts.evidence import shape_of, shown
from trainlint.facts.flow import terms
from trainlint.facts.recorded import Recorded
from trainlint.facts.step import Failure
from trainlint.facts.values import Op, Value
from trainlint.finding import Finding, Place
from trainlint.rule import rule

ELEMENTWISE = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss", "soft_margin_loss")
REFUSE = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
AVERAGES = ("mean", "sum", "sqrt")
OF_DIFFERENCE = ("**", "square", "abs", "absolute")
FROM_A_MODEL = ("output", "linear", "module")

Shape = tuple[int, ...]


@rule(Recorded, level="error", by="T")
def check(run: Recorded) -> Iterator[Finding]:
    for loss in run.events(LossCall):
        if loss.function in ELEMENTWISE and loss.input is not None and loss.target is not None:
            yield from _compared(loss.at, loss.name, loss.input, loss.target)
    failure = run.fatal
    if failure is not None and failure.operation in REFUSE and len(failure.inputs) > 1:
        yield from _refused(failure)
    for backward in run.events(Backward):
        for term in terms(backward.loss):
            difference = _difference(term)
            if difference is not None and difference.at is not None:
                yield from _compared(difference.at, f"`{difference.text}`", *difference.inputs[:2])


def _refused(failure: Failure) -> Iterator[Finding]:
    """A loss that does not broadcast, and has raised."""
    first, second = failure.inputs[0][0], failure.inputs[1][0]
    if len(first) != len(second) and _broadcast(first, second) is not None:
        yield Finding(
            failure.at,
            f"{failure.operation} compares {shown(first)} with {shown(second)}, and raises because it does not "
            "broadcast. Give both the same shape, with `squeeze(-1)` or `unsqueeze(-1)`.",
            evidence={"first shape": shown(first), "second shape": shown(second)},
        )


def _compared(at: Place, name: str, first: Value, second: Value) -> Iterator[Finding]:
    shapes = shape_of(first), shape_of(second)
    if shapes[0] is None or shapes[1] is None or len(shapes[0]) == len(shapes[1]):
        return
    common = _broadcast(shapes[0], shapes[1])
    if common is not None and _size(common) > max(_size(shapes[0]), _size(shapes[1])):
        yield Finding(
            at,
            f"{name} compares {shown(shapes[0])} with {shown(shapes[1])}, which broadcasts to {shown(common)}: every "
            "prediction is held against every target, and the best that can be learned is the mean. Give both the "
            "same shape, with `squeeze(-1)` or `unsqueeze(-1)`.",
            evidence={
                "first shape": shown(shapes[0]),
                "second shape": shown(shapes[1]),
                "broadcast to": shown(common),
                "elements compared": _size(common),
                "elements given": max(_size(shapes[0]), _size(shapes[1])),
            },
        )


def _difference(term: Value) -> Op | None:
    """The difference in `((model(x) - y) ** 2).mean()`, where one side comes straight from a model and the other is
    data."""
    while isinstance(term, Op) and term.name in AVERAGES and term.inputs:
        term = term.inputs[0]
    if (isinstance(term, Op) and term.name in OF_DIFFERENCE and term.inputs) or (
        isinstance(term, Op)
        and term.name == "*"
        and len(term.inputs) == 2
        and term.inputs[0] is term.inputs[1]
    ):
        term = term.inputs[0]
    else:
        return None
    if not isinstance(term, Op) or term.name != "-" or len(term.inputs) != 2:
        return None
    sides = [one for one in term.inputs if isinstance(one, Op)]
    predicted = [one for one in sides if one.attached and one.name in FROM_A_MODEL]
    data = [one for one in sides if one.attached is False]
    return term if len(predicted) == len(data) == 1 else None


def _broadcast(first: Shape, second: Shape) -> Shape | None:
    """The shape that two shapes are stretched to; None where they do not fit."""
    length = max(len(first), len(second))
    padded = [(1,) * (length - len(one)) + one for one in (first, second)]
    pairs = list(zip(*padded, strict=True))
    if any(left != right and 1 not in (left, right) for left, right in pairs):
        return None
    return tuple(right if left == 1 else left for left, right in pairs)


def _size(shape: Shape) -> int:
    size = 1
    for one in shape:
        size *= one
    return size
