from collections.abc import Iterator

from trainlint.facts.api.meanings import KEEPS, Meaning
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.made_up import is_made_up
from trainlint.facts.ask.meaning import makers, meaning
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Guards, Object, Op, Value
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .bounds import is_bounded_above, is_cosine
from .drawn import is_of_the_drawn

FUSED = {
    "softmax": (
        "F.log_softmax",
        "a probability that underflows becomes 0, and its log is infinite",
    ),
    "sigmoid": (
        "F.logsigmoid",
        "a probability that underflows becomes 0, and its log is infinite",
    ),
}

_FOR_DIGITS = frozenset(("torch.log1p", "torch.expm1"))


@rule(Training, level="warning", by="S", confidence="likely")
def check(training: Training) -> Iterator[Finding]:
    for operation in training.events(Operation):
        op = operation.output
        found = _in(op, operation.guards)
        if found is None or training.is_in_test(operation.at) or all(map(is_made_up, op.inputs)):
            continue
        instead, why, maker = found
        if maker is not None and _is_replaced(training, op, maker) and not _is_learned(training, op):
            continue
        if maker is None and not (
            (_is_meant(op) and (instead not in _FOR_DIGITS or _is_learned(training, op)))
            or (instead not in _FOR_DIGITS and _is_in_function(training, op))
        ):
            continue
        because = (
            (Because(maker.at, "it is computed here"),) if maker is not None and maker.at is not None else ()
        )
        yield Finding(
            operation.at,
            f"{why}. Use `{instead}`, which fuses both steps.",
            because,
            level="info" if instead in _FOR_DIGITS else None,
            clues={"instead": instead},
        )


def _in(op: Op, guards: Guards) -> tuple[str, str, Op | None] | None:
    """What replaces an operation and the one before it, why, and where that one is if it may be far away."""
    if not op.inputs or op.records is False:
        return None
    if op.name == "log":
        return _in_log(op.inputs[0], guards)
    if op.name in ("-", "sub") and len(op.inputs) == 2 and _is_one(op.inputs[1]):
        return _of_exp(op.inputs[0])
    if op.name in ("/", "div") and len(op.inputs) == 2:
        return _by_hand(*op.inputs)
    return None


def _is_of_probabilities(op: Op) -> bool:
    """Whether an operation is given probabilities, which lie too close together for one of its results to become 0."""
    given = makers(op.inputs[0]) if op.inputs else None
    return given is not None and all(meaning(one) is Meaning.PROBABILITIES for one in given)


def _is_replaced(training: Training, op: Op, maker: Op) -> bool:
    """Whether `torch.where` takes something else by what a probability is: only a gradient would still be NaN."""
    return any(
        called.name == "torch.where"
        and len(called.args) == 3
        and is_made_of(called.args[0], maker)
        and any(is_made_of(taken, op) for taken in called.args[1:])
        for called in training.events(Called)
    )


def _is_learned(training: Training, op: Op) -> bool:
    """Whether a loss certainly follows from a result by a way that gradients take. Where only digits are lost it has
    to: coordinates, counts and the steps of a sampler are seldom that small."""
    if not attachment(op).attached:
        return False
    losses = [backward.loss for backward in training.events(Backward)]
    losses += [call.output for call in training.events(LossCall)]
    return any(is_made_of(loss, op, with_graph=True) for loss in losses)


def _is_meant(op: Op) -> bool:
    """Whether both steps are in one expression, and a gradient may flow through them."""
    inner = [one for one in op.inputs if isinstance(one, Op)]
    way = attachment(op)
    return (way.attached or way.uncertain) and all(
        one.at is not None
        and op.at is not None
        and one.at.path == op.at.path
        and op.at.line <= one.at.line <= one.at.end_line <= op.at.end_line
        for one in inner
    )


def _is_in_function(training: Training, op: Op) -> bool:
    """Whether both steps stand in one file, each in a line of its own, and a loss certainly trains through them."""
    inner = [one for one in op.inputs if isinstance(one, Op)]
    near = all(one.at is not None and op.at is not None and one.at.path == op.at.path for one in inner)
    return near and _is_learned(training, op)


def _of_exp(value: Value) -> tuple[str, str, Op | None] | None:
    lost = "near 0, `exp(x) - 1` loses nearly all significant digits"
    return ("torch.expm1", lost, None) if _named(value, "exp") else None


def _in_log(value: Value, guards: Guards) -> tuple[str, str, Op | None] | None:
    inner = _looked_through(value)
    if not isinstance(inner, Op):
        return None
    if inner.name in FUSED:
        if is_of_the_drawn(value, inner) or _is_of_probabilities(inner):
            return None
        return (*FUSED[inner.name], inner)
    if inner.name in ("+", "add") and len(inner.inputs) == 2:
        for one, other in (inner.inputs, inner.inputs[::-1]):
            if _is_one(one):
                if isinstance(other, Op) and _named(other, "exp"):
                    if is_bounded_above(other.inputs[0], guards):
                        return None
                    return ("F.softplus", "`log(1 + exp(x))` is infinite where `exp(x)` is", None)
                if not isinstance(other, (Constant, Object)):
                    return ("torch.log1p", "where x is small, `1 + x` rounds to 1, and its log is 0", None)
    if inner.name == "sum" and inner.inputs and _is_raw_exp(inner.inputs[0]):
        return ("torch.logsumexp", "`exp(x)` is infinite from x = 89 on", None)
    if inner.name == "prod" and inner.inputs and _is_raw_exp(inner.inputs[0]):
        why = "the product of `exp(x)` becomes 0 or infinite long before the sum of x is large, and so does its log"
        return ("x.sum(dim)", why, None)
    return None


def _by_hand(first: Value, second: Value) -> tuple[str, str, Op | None] | None:
    """`exp(x) / exp(x).sum()`."""
    total = _looked_through(second)
    if isinstance(total, Op) and total.name == "sum" and total.inputs and _is_raw_exp(total.inputs[0]):
        below = total.inputs[0]
        assert isinstance(below, Op)
        same = isinstance(first, Op) and (
            first is below or (first.name == "exp" and first.inputs[0] is below.inputs[0])
        )
        return (
            ("torch.softmax", "`exp(x)` is infinite from x = 89 on, and the quotient is NaN", None)
            if same
            else None
        )
    return None


def _is_raw_exp(value: Value) -> bool:
    """Whether a value is an exponential of something that may be large: no maximum was subtracted, it is no cosine."""
    if not _named(value, "exp"):
        return False
    assert isinstance(value, Op)
    inner = _before_constants(value.inputs[0])
    if isinstance(inner, Op) and inner.name in ("-", "sub", "-=", "clamp", "*", "neg", "/"):
        return False
    return not (is_cosine(inner) or is_bounded_above(inner))


def _before_constants(value: Value) -> Value:
    """The value before numbers were added to it, such as an epsilon."""
    while isinstance(value, Op) and value.name in ("+", "add"):
        numbers = [one for one in value.inputs if isinstance(one, Constant)]
        if len(numbers) != 1:
            return value
        value = next(one for one in value.inputs if one is not numbers[0])
    return value


def _looked_through(value: Value) -> Value | None:
    """The value before operations that keep its meaning; None if it was changed in place."""
    while isinstance(value, Op) and not value.written:
        if not (value.name in KEEPS or value.name == "output") or not value.inputs:
            return value
        value = value.inputs[0]
    return None


def _named(value: Value, name: str) -> bool:
    return isinstance(value, Op) and value.name == name and bool(value.inputs)


def _is_one(value: Value) -> bool:
    return isinstance(value, Constant) and value.value in (1, 1.0) and value.value is not True
