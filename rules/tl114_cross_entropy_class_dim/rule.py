from collections.abc import Iterator

from trainlint.facts.ask.evidence import numbers_of, shape_of, shown
from trainlint.facts.ask.shapes import shape_read
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value
from trainlint.facts.seen.raised import Failure
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .all_steps import of_all_steps
from .one_axis import single_scores
from .one_class import only_class
from .one_sequence import classes_last
from .time_first import classes_stay_last

OVER_CLASSES = ("cross_entropy", "nll_loss")
SAME_AXES = frozenset(
    "output identity to float double half bfloat16 type type_as clone contiguous dropout relu gelu tanh log_softmax "
    "softmax clamp layer_norm * / + -".split()
)
"""Operations that keep the order of axes, if the shape stays the same."""


_CLASSES_SECOND = "Pass `logits.flatten(0, -2)` with `targets.flatten()`, or `logits.movedim(-1, 1)`."
"""What brings classes that come last into dimension 1."""


@rule(Training, level="error")
def check(run: Training) -> Iterator[Finding]:
    yield from _seen(run) if isinstance(run, Recorded) else _read(run)


def _read(training: Training) -> Iterator[Finding]:
    """Logits and targets whose sizes are literals in the source."""
    for loss in training.events(LossCall):
        if loss.is_of_menu:
            continue
        layer = classes_last(loss) if loss.function in OVER_CLASSES else None
        if layer is not None and layer.at is not None:
            yield _of_tokens(loss, layer)
            continue
        turned = classes_stay_last(loss) if loss.function in OVER_CLASSES else None
        if turned is not None:
            yield _of_turned(loss, *turned)
            continue
        given, target = shape_read(loss.input), shape_read(loss.target)
        layer = of_all_steps(loss) if loss.function in OVER_CLASSES and not (given and target) else None
        if layer is not None:
            yield _of_steps(loss, layer)
            continue
        single = single_scores(loss) if loss.function == "cross_entropy" else None
        if single is not None:
            yield _of_one_axis(loss, *single)
        is_taught = loss.function == "cross_entropy" and loss.output.records is not False
        only = only_class(loss) if is_taught and single is None else None
        if only is not None:
            yield _of_one_class(loss, only)
        if loss.function not in OVER_CLASSES or not given or not target or None in (*given, *target):
            continue
        layer = _layer_of(loss.input)
        if layer is None or layer.at is None or len(given) < 3 or given[:-1] != target:
            continue
        logits, targets = (f"[{', '.join(map(str, one))}]" for one in (given, target))
        fits = (given[0], *given[2:]) == target
        what = "silently trains on the wrong axis" if fits else "raises"
        yield Finding(
            loss.at,
            f"The logits are {logits} and the targets {targets}, so the {given[-1]} classes come last, but "
            f"{loss.name} expects them in dimension 1, and {what}. {_CLASSES_SECOND}",
            (Because(layer.at, "the classes are the last axis here"),),
        )


def _of_tokens(loss: LossCall, layer: Op) -> Finding:
    return Finding(
        loss.at,
        "The targets are tokens of the sequences that the logits are of, so the classes come last in the logits, but "
        f"{loss.name} expects them in dimension 1, and raises or trains on the wrong axis. {_CLASSES_SECOND}",
        (Because(layer.at, "the classes are the last axis here"),) if layer.at is not None else (),
    )


def _of_turned(loss: LossCall, layer: Op, turn: Op) -> Finding:
    places = (("the classes are the last axis here", layer.at), ("this swaps the axes before them", turn.at))
    return Finding(
        loss.at,
        f"The first two axes of these logits have changed places, which leaves their classes last, but {loss.name} expects them in "
        f"dimension 1, and raises or trains on the wrong axis. {_CLASSES_SECOND}",
        tuple(Because(at, what) for what, at in places if at is not None),
    )


def _of_steps(loss: LossCall, layer: Op) -> Finding:
    return Finding(
        loss.at,
        "The logits are those of all steps of several sequences, with the classes last, but "
        f"{loss.name} expects them in dimension 1, and raises or trains on the wrong axis. {_CLASSES_SECOND}",
        (Because(layer.at, "the classes are the last axis here"),) if layer.at is not None else (),
        confidence="likely",
        doubt="a single sequence without a batch has its classes in dimension 1",
    )


def _of_one_axis(loss: LossCall, layer: Op, is_sure: bool) -> Finding:
    return Finding(
        loss.at,
        f"This is one score per sample, on a single axis, which {loss.name} takes for the classes: it normalises over "
        "the samples of the batch. For two classes, use `BCEWithLogitsLoss`, or two outputs and integer targets.",
        (Because(layer.at, "the layer with one output is called here"),) if layer.at is not None else (),
        confidence="certain" if is_sure else "likely",
        doubt="" if is_sure else "another axis may hold the classes",
    )


def _of_one_class(loss: LossCall, layer: Op) -> Finding:
    return Finding(
        loss.at,
        f"There is one class alone, whose softmax is always 1: {loss.name} is 0 whatever the model gives, or raises for a "
        "target of 1, so nothing is learned. For two classes, use `BCEWithLogitsLoss`, or two outputs.",
        (Because(layer.at, "the layer with one output is called here"),)
        if layer.at not in (None, loss.at)
        else (),
        confidence="likely" if loss.guards else "certain",
        doubt="only a setting chooses this loss" if loss.guards else "",
    )


def _layer_of(value: Value | None) -> Op | None:
    """The linear layer whose features are the last axis of the logits, with nothing after it that moves axes."""
    for _ in range(20):
        if not isinstance(value, Op) or value.name == "linear":
            return value if isinstance(value, Op) else None
        if value.name not in SAME_AXES or value.name in ("*", "/", "+", "-") or not value.inputs:
            return None
        value = value.inputs[0]
    return None


def _seen(run: Recorded) -> Iterator[Finding]:
    for failure in run.facts(Failure):
        if failure.operation in OVER_CLASSES and len(failure.inputs) > 1:
            given, target = failure.inputs[0][0], failure.inputs[1][0]
            if _classes_come_last(given, target):
                yield Finding(
                    failure.at,
                    f"The logits are {shown(given)} and the targets {shown(target)}, so the {given[-1]} "
                    "classes come last, but cross-entropy expects them in dimension 1, and raises. Pass "
                    "`logits.flatten(0, -2)` with `targets.flatten()`, or `logits.movedim(-1, 1)`.",
                    evidence={
                        "logits": shown(given),
                        "targets": shown(target),
                        "error": failure.message[:120],
                    },
                )
    for loss in run.events(LossCall):
        given_shape, target_shape = shape_of(loss.input), shape_of(loss.target)
        if loss.function not in OVER_CLASSES or given_shape is None or target_shape is None:
            continue
        if len(given_shape) < 3 or loss.output.seen is None:
            continue
        layer = _last_layer(loss.input, given_shape)
        if layer is None or layer.at is None or not _fits_by_chance(loss, given_shape, target_shape):
            continue
        yield Finding(
            loss.at,
            f"The logits are {shown(given_shape)}, with the classes last, as `{layer.text}` returns them, "
            f"but {loss.name} expects them in dimension 1: it silently trains on the wrong axis. Pass "
            "`logits.flatten(0, -2)` with flat targets, or `logits.movedim(-1, 1)`.",
            (Because(layer.at, "the classes are the last axis here"),),
            evidence={
                "logits": shown(given_shape),
                "targets": shown(target_shape),
                "size of dimension 1": given_shape[1],
                "size of the last dimension": given_shape[-1],
            },
        )


def _classes_come_last(given: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether targets match the logits except for the class dimension."""
    return len(given) > 2 and given[:-1] == target and (given[0], *given[2:]) != target


def _last_layer(value: Value | None, shape: tuple[int, ...]) -> Op | None:
    """The linear layer whose features are the last axis of the logits, if nothing has moved axes since."""
    for _ in range(20):
        if not isinstance(value, Op) or value.seen is None or value.seen.shape != shape:
            return None
        if value.name == "linear":
            return value
        if value.name not in SAME_AXES or not value.inputs:
            return None
        value = value.inputs[0]
    return None


def _fits_by_chance(loss: LossCall, given: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether sizes happen to agree: as many positions as classes, or targets that are probabilities."""
    if given == target:
        rows = numbers_of(loss.target)
        return given[1] != given[-1] and 0 <= rows.get("rows that sum to 1", -1) < rows.get("rows", 0)
    return (given[0], *given[2:]) == target == given[:-1]
