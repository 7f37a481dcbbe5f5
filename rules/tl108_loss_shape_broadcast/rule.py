from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment, terms
from trainlint.facts.ask.evidence import shape_of
from trainlint.facts.ask.guards import of_axes
from trainlint.facts.ask.shapes import Sizes, shape_read
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value
from trainlint.facts.seen.raised import Failure
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule

from .asked import asserted_alike
from .columns import kind
from .counted import compared_apart
from .crossed import crossed
from .weights import weighted_crosswise

ELEMENTWISE = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss", "soft_margin_loss")
REFUSE = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
AVERAGES = ("mean", "sum", "sqrt")
OF_DIFFERENCE = ("**", "pow", "square", "abs", "absolute")
WEIGHS = ("*", "mul")
FROM_A_MODEL = ("output", "linear", "module")

MANY = 7919
"""An unknown size, which is the batch size on both sides."""

Shape = tuple[int, ...]


@rule(Training, level="error", confidence="likely")
def check(run: Training) -> Iterator[Finding]:
    for loss in run.events(LossCall):
        if loss.input is None or loss.target is None:
            continue
        if not isinstance(run, Recorded) and (
            of_axes(loss.guards) or asserted_alike(run, loss, loss.input, loss.target)
        ):
            continue
        if loss.function in ELEMENTWISE:
            yield from _compared(loss.at, loss.name, loss.input, loss.target)
            if not isinstance(run, Recorded):
                yield from _crossed(loss.at, loss.name, loss.input, loss.target)
        elif loss.function in REFUSE and not isinstance(run, Recorded):
            yield from _will_be_refused(loss.at, loss.name, loss.input, loss.target)
    if not isinstance(run, Recorded):
        yield from _counted(run)
        yield from _weighted(run)
    failure = run.fatal if isinstance(run, Recorded) else None
    if failure is not None and failure.operation in REFUSE and len(failure.inputs) > 1:
        yield from _refused(failure)
    for backward in run.events(Backward):
        yield from _crossed_in_run(run, backward)
        for term in terms(backward.loss):
            for difference in _differences(term):
                if difference.at is not None:
                    yield from _compared(difference.at, f"`{difference.text}`", *difference.inputs[:2])
                    if not isinstance(run, Recorded):
                        yield from _crossed(difference.at, f"`{difference.text}`", *difference.inputs[:2])


def _crossed_in_run(run: Training, backward: Backward) -> Iterator[Finding]:
    for one in crossed(backward.loss) if isinstance(run, Recorded) else ():
        if one.at is not None:
            yield from _compared(one.at, f"`{one.text}`", *one.inputs[:2])


def _counted(training: Training) -> Iterator[Finding]:
    """Right answers that are counted over all pairs."""
    for compared, loss, is_sure in compared_apart(training):
        yield Finding(
            compared.at,
            f"`{compared.output.text}` compares tensors of which one has an axis more, as {loss.name} shows: it broadcasts, "
            "and every prediction is compared with every target, so what is counted is no accuracy. Give both the "
            "same shape, as in the loss.",
            (Because(loss.at, "the loss gets them with shapes that fit here"),),
            confidence="certain" if is_sure else "likely",
            doubt="" if is_sure else "a squeeze, or a view, may leave the shape as it is",
            is_shown_by_runs=False,
        )


def _weighted(training: Training) -> Iterator[Finding]:
    shapes = {"column": "[N, 1]", "row": "[N]"}
    for product, errors, weights in weighted_crosswise(training):
        if product.at is not None:
            yield Finding(
                product.at,
                f"`{product.text}` multiplies errors of {shapes[errors]} by weights of {shapes[weights]}, which broadcasts to "
                "[N, N]: every error gets every weight, so only their mean has an effect. Give both the same shape, "
                "with `squeeze(1)` or `unsqueeze(1)`.",
                confidence="likely",
                doubt="the shapes are not all in sight",
                is_shown_by_runs=False,
            )


def _refused(failure: Failure) -> Iterator[Finding]:
    """A loss whose shapes do not broadcast, and that has raised."""
    first, second = failure.inputs[0][0], failure.inputs[1][0]
    if len(first) != len(second) and _broadcast(first, second) is not None:
        yield Finding(
            failure.at,
            f"{failure.operation} compares {_shown(first)} with {_shown(second)}, and raises because it does not "
            "broadcast. Give both the same shape, with `squeeze(-1)` or `unsqueeze(-1)`.",
            evidence={"first shape": _shown(first), "second shape": _shown(second)},
        )


def _will_be_refused(at: Place, name: str, first: Value, second: Value) -> Iterator[Finding]:
    left, right = shape_read(first), shape_read(second)
    if left and right and len(left) != len(right) and _broadcast(_filled(left), _filled(right)) is not None:
        yield Finding(
            at,
            f"{name} compares {_shown(left)} with {_shown(right)}, and raises because it does not broadcast. Give both "
            "the same shape, with `squeeze(-1)` or `unsqueeze(-1)`.",
        )


def _sizes_of(value: Value) -> Sizes | None:
    """The shape of a tensor, from a run or from the source."""
    found = shape_of(value)
    return found if found is not None else shape_read(value)


def _filled(sizes: Sizes) -> Shape:
    return tuple(MANY if one is None else one for one in sizes)


def _shown(sizes: Sizes) -> str:
    return f"[{', '.join('N' if one is None or one == MANY else str(one) for one in sizes)}]"


def _compared(at: Place, name: str, first: Value, second: Value) -> Iterator[Finding]:
    left, right = _sizes_of(first), _sizes_of(second)
    if left is None or right is None or len(left) == len(right):
        return
    given, other = _filled(left), _filled(right)
    common = _broadcast(given, other)
    if common is not None and _size(common) > max(_size(given), _size(other)):
        yield Finding(
            at,
            f"{name} compares {_shown(left)} with {_shown(right)}, which broadcasts to {_shown(common)}: "
            "every prediction is compared with every target, so the model can only learn the mean. Give both "
            "the same shape, with `squeeze(-1)` or `unsqueeze(-1)`.",
            evidence={
                "first shape": _shown(left),
                "second shape": _shown(right),
                "broadcast to": _shown(common),
                "elements compared": _size(common),
                "elements given": max(_size(given), _size(other)),
            }
            if shape_of(first) is not None
            else {},
        )


def _crossed(at: Place, name: str, first: Value, second: Value) -> Iterator[Finding]:
    """A column against a row, of outputs whose shapes are not in sight."""
    if _sizes_of(first) is not None and _sizes_of(second) is not None:
        return
    left, right = kind(first), kind(second)
    if left is not None and right is not None and left != right:
        shapes = {"column": "[N, 1]", "row": "[N]"}
        yield Finding(
            at,
            f"{name} compares {shapes[left]} with {shapes[right]}, which broadcasts to [N, N]: every prediction is "
            "compared with every target, so the model can only learn the mean. Give both the same shape, with "
            "`squeeze(1)` or `unsqueeze(1)`.",
            confidence="likely",
            doubt="the outputs are taken for one row of values for each sample: their shape is not in sight",
        )


def _differences(term: Value) -> Iterator[Op]:
    """The difference in `((model(x) - y) ** 2).mean()`, also with weights, where one side is the output of a model and the
    other is data."""
    for one in reached([term], _averaged_or_weighted):
        inner = one.inputs[0] if isinstance(one, Op) and _is_power(one) else None
        if (
            isinstance(inner, Op)
            and inner.name in ("-", "sub")
            and len(inner.inputs) == 2
            and _is_of_model(inner)
        ):
            yield inner


def _averaged_or_weighted(value: Value) -> tuple[Value, ...]:
    """What a mean is taken of, or the two sides of what is weighted."""
    if not isinstance(value, Op) or _is_power(value):
        return ()
    if value.name in AVERAGES:
        return value.inputs[:1]
    return value.inputs if value.name in WEIGHS and len(value.inputs) == 2 else ()


def _is_power(op: Op) -> bool:
    return bool(op.inputs) and (op.name in OF_DIFFERENCE or _is_square(op))


def _is_square(op: Op) -> bool:
    return op.name in WEIGHS and len(op.inputs) == 2 and op.inputs[0] is op.inputs[1]


def _is_of_model(difference: Op) -> bool:
    """Whether one side of a difference is the output of a model, and the other is data."""
    sides = [one for one in difference.inputs if isinstance(one, Op)]
    predicted = [one for one in sides if one.name in FROM_A_MODEL and attachment(one).attached]
    data = [one for one in sides if _is_data(one)]
    return len(predicted) == len(data) == 1


def _is_data(value: Op) -> bool:
    """Whether a tensor does not depend on trained parameters."""
    if value.attached is not None:
        return not value.attached
    way = attachment(value)
    return not (way.attached or way.uncertain)


def _broadcast(first: Shape, second: Shape) -> Shape | None:
    """The shape that two shapes broadcast to; None where they do not broadcast."""
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
