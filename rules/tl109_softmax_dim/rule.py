from collections.abc import Iterator

from trainlint.facts.api.operations import SOFTMAXES
from trainlint.facts.ask.evidence import shape_of, shown
from trainlint.facts.ask.guards import of_axes
from trainlint.facts.ask.shapes import shape_read
from trainlint.facts.model.elements import number_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Attended, Operation, SizesTaken
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op, Value, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .attention_axis import crossed
from .batch import over_the_batch
from .chosen import chosen_elsewhere
from .classes import beside_the_classes
from .pooled import pooled
from .samples_stay import samples_stay
from .single import over_one

WITH_DEFAULT = ("torch.nn.functional.", "torch.nn.")
"""Where softmax may be called, or created as a layer, without a dimension."""


@rule(
    Training,
    level="warning",
    words="softmax Softmax log_softmax LogSoftmax softmin",
    covered_by="TL101 TL102",
)
def check(training: Training) -> Iterator[Finding]:
    for event in training.events(Operation):
        op = event.output
        if _has_one_dimension(op):
            continue
        layer = op.owner.at if op.owner is not None else None
        is_asked = bool(of_axes(event.guards)) and op.seen is None
        narrow = over_one(op, _dim(op)) if op.name in SOFTMAXES and not is_asked else None
        if narrow is not None:
            yield Finding(
                layer or event.at,
                f"this normalises over an axis of length 1, so every result is {'0' if 'log' in op.name else '1'}, whatever "
                "the scores are. Normalise over the axis that the scores are compared along, or use a sigmoid.",
                (Because(narrow.at, "this layer makes the axis 1 long"),) if narrow.at is not None else (),
                evidence=_shape(op),
            )
            continue
        is_known = event.function.startswith(WITH_DEFAULT) or op.seen is not None
        if op.name in SOFTMAXES and is_known and _is_left_out(_dim(op)) and not _is_over_channels(op):
            yield Finding(
                layer or event.at,
                f"{op.name} is called without `dim`: torch picks dimension 1 for 2-D and 4-D inputs, but 0, "
                "the batch, for 3-D ones. Pass the dimension of the classes, often `dim=-1`.",
                (Because(event.at, "it is applied here"),) if layer is not None else (),
                evidence=_shape(op),
            )
    for loss in training.events(LossCall):
        made = _inner(loss.input)
        if loss.function == "nll_loss" and isinstance(made, Op) and made.name == "log_softmax":
            dim, shape = constant(_dim(made)), shape_of(made)
            if made.at is not None and _is_wrong(dim, shape):
                yield Finding(
                    made.at,
                    f"this normalises over dimension {dim}, but {loss.name} expects the classes in dimension 1: the "
                    "probabilities of one sample do not sum to 1. Pass `dim=1`.",
                    (Because(loss.at, f"it reaches {loss.name} here"),),
                    evidence=_shape(made),
                )
        elif loss.function == "ctc_loss" and isinstance(made, Op) and made.name == "log_softmax":
            yield from _of_steps(loss, made)
    yield from _of_other_axis(training)
    yield from _of_pooling(training)
    over_first = [
        one
        for one in training.events(Operation)
        if one.output.name in ("softmax", "log_softmax")
        and one.output.inputs
        and number_of(_dim(one.output)) == 0
    ]
    if over_first:
        yield from _of_batch(training, over_first)
        yield from _of_samples(training, [one.output for one in over_first])
    taken = {one.tensor.uid: one.count for one in training.events(SizesTaken)}
    for attended in training.events(Attended):
        for softmax, dim, axis in crossed(attended, taken):
            if softmax.at is not None:
                yield Finding(
                    softmax.at,
                    f"this normalises over dimension {dim} of the scores, but the weights are summed over dimension "
                    f"{axis}, the keys: the weights of one query do not sum to 1. Pass `dim={axis}`.",
                    (Because(attended.at, "the weights are applied here"),),
                    evidence=_shape(softmax),
                )


def _of_steps(loss: LossCall, made: Op) -> Iterator[Finding]:
    """Log-probabilities for CTC that are normalised over the time steps."""
    if made.at is not None and number_of(_dim(made)) == 0:
        yield Finding(
            made.at,
            f"this normalises over dimension 0, but {loss.name} takes that for the time steps, and expects the classes last: "
            "the probabilities of one time step do not sum to 1. Pass `dim=-1`.",
            (Because(loss.at, f"it reaches {loss.name} here"),),
            evidence=_shape(made),
        )


def _of_other_axis(training: Training) -> Iterator[Finding]:
    """Log-probabilities over another axis than the one that a loss chooses a class along."""
    for softmax, dim, axis, by, is_sure in beside_the_classes(training):
        if softmax.at is not None and by.at is not None:
            yield Finding(
                softmax.at,
                f"this normalises over dimension {dim}, but the loss looks for the classes in dimension {axis}: the "
                f"probabilities of one sample do not sum to 1. Pass `dim={axis}`.",
                (Because(by.at, f"the classes are taken from dimension {axis} here"),),
                evidence=_shape(softmax),
                confidence="certain" if is_sure else "likely",
                doubt="" if is_sure else "scores with one axis have no other",
                is_shown_by_runs=False,
            )


def _of_pooling(training: Training) -> Iterator[Finding]:
    """Weights of items, one for each, that do not sum to 1 over the items."""
    for softmax, dim, total, axis in pooled(training):
        if softmax.at is not None:
            yield Finding(
                softmax.at,
                f"this normalises over dimension {dim}, but the weighted items are summed over dimension {axis}: the weights "
                f"of the items in one sum do not sum to 1. Pass `dim={axis}`.",
                (Because(total.at, "the items are summed here"),) if total.at is not None else (),
                evidence=_shape(softmax),
            )


def _of_batch(training: Training, over_first: list[Operation]) -> Iterator[Finding]:
    for event, count in over_the_batch(training, over_first):
        axis = 1 if count in (2, 4) else -1
        yield Finding(
            event.at,
            "this normalises over dimension 0, the batch: the probabilities of one sample do not sum to 1, and depend on the "
            f"other samples. Pass `dim={axis}`.",
            evidence=_shape(event.output),
            confidence="likely",
            doubt="to compare samples with each other may be meant",
        )


def _of_samples(training: Training, over_first: list[Op]) -> Iterator[Finding]:
    """What is normalised over the samples, and then used within each."""
    for softmax, total, axis in samples_stay(training, over_first):
        yield from _used_within(
            softmax,
            f"the weights are summed within each sample, over dimension {axis}: they do not sum to 1, and depend on the other "
            f"samples. Pass `dim={axis}`.",
            (total, "the sum is here"),
            "to share something out among the samples may be meant",
        )
    for softmax, choice, axis in chosen_elsewhere(training, over_first):
        yield from _used_within(
            softmax,
            f"a class is chosen for each sample, along dimension {axis}: what is largest depends on the other samples. Pass "
            f"`dim={axis}`.",
            (choice, "the class is chosen here"),
            "the first axis may be that of the classes",
        )


def _used_within(softmax: Op, said: str, use: tuple[Op, str], doubt: str) -> Iterator[Finding]:
    """What is said of a softmax over the batch whose result is used within each sample."""
    used, shown = use
    if softmax.at is not None:
        yield Finding(
            softmax.at,
            f"this normalises over dimension 0, the batch, but {said}",
            (Because(used.at, shown),) if used.at is not None else (),
            evidence=_shape(softmax),
            confidence="likely",
            doubt=doubt,
        )


def _is_over_channels(op: Op) -> bool:
    """Whether it is a layer that has no dimension to be told."""
    return op.owner is not None and op.owner.type == "torch.nn.Softmax2d"


def _has_one_dimension(op: Op) -> bool:
    """Whether there is only one dimension that can be meant."""
    shape = shape_of(op) or (shape_read(op.inputs[0]) if op.inputs else None)
    return shape is not None and len(shape) == 1


def _dim(op: Op) -> Value | None:
    given = op.option(1, "dim")
    if given is None and op.owner is not None:
        if op.owner.is_open:
            return Value()
        held = op.owner.attributes.get("dim")
        is_set = held is not None and not (isinstance(held, Op) and held.inputs[:1] == (op.owner,))
        return held if is_set else op.owner.argument(0, "dim")
    return given


def _is_left_out(dim: Value | None) -> bool:
    return dim is None or (isinstance(dim, Constant) and dim.value is None and not dim.is_default)


def _is_wrong(dim: object, shape: tuple[int, ...] | None) -> bool:
    """Whether a dimension is certainly not that of the classes."""
    if not isinstance(dim, int):
        return False
    if shape is None:
        return dim == 0
    return len(shape) > 1 and dim % len(shape) != 1


def _inner(value: Value | None) -> Value | None:
    while isinstance(value, Op) and value.name == "output":
        value = value.inputs[0]
    return value


def _shape(op: Op) -> dict[str, str]:
    shape = shape_of(op)
    return {"shape": shown(shape)} if shape is not None else {}
