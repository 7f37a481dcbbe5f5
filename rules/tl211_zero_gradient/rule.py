from collections.abc import Iterator

from trainlint.facts.ask.asking import question
from trainlint.facts.ask.evidence import held, numbers_of
from trainlint.facts.ask.paths import ways
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Constant, Op, Value
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Because, Finding, Place
from trainlint.rule import rule

CHANCE = ("bernoulli", "rand", "rand_like")
"""Operations that can drop a branch."""


FLAT = frozenset(
    ("relu", "clamp", "clamp_min", "clamp_max", "hardtanh", "relu6", "softmax", "hardsigmoid", "threshold")
)
ROUNDS = frozenset("sign sgn round floor ceil trunc fix heaviside".split())
"""Operations whose gradient is zero everywhere."""

FEWEST_SAMPLES = 4


@rule(Recorded, level="warning", by="T")
def check(run: Recorded) -> Iterator[Finding]:
    judged = [one for one in held(run) if one.gradient is not None]
    silent = [
        one for one in judged if one.gradient is not None and one.gradient.zeros == 1.0 and not one.alive
    ]
    if not silent or _is_solved(run) or _most_samples(run) < FEWEST_SAMPLES:
        return
    found = ways(run)
    asleep = {one.model for one in judged if one.alive and _starts_at_zero(one)}
    told: set[int] = set()
    for number, path, parameters in _by_module(silent):
        at = parameters[0].at or _made(run, parameters[0])
        if at is None or number in asleep:
            continue
        values = [one.value for one in parameters if one.value is not None]
        between = found.between(values)
        rounded = _rounded(between)
        if _only_bias(parameters, judged) and (rounded is None or all(map(_is_bias, parameters))):
            continue
        on_the_way = {op.uid for op in between}
        if not told.isdisjoint(on_the_way) or any(_switches_off(op) for op in between):
            continue
        told |= {op.uid for op in between if any(one in values for one in op.inputs)}
        yield Finding(
            at,
            f"The gradient of {_named(parameters)} is exactly zero in every backward pass, so it never "
            f"learns. {_look_for(rounded)}",
            _flat(between) if rounded is None else _at(rounded),
            subject=path or parameters[0].name,
            evidence={
                "parameters with zero gradient": len(parameters),
                "elements": sum(_elements(one) for one in parameters),
                "parameters with a gradient": sum(one.alive for one in judged),
                "backward passes": run.ending.backwards,
            },
        )


def _is_solved(run: Recorded) -> bool:
    """Whether some loss is zero, as for a satisfied margin: then there is nothing to learn from this batch."""
    values = [numbers_of(event.loss).get("value") for event in run.events(Backward)]
    one_class = any(numbers_of(event.loss).get("classes") == 1 for event in run.events(Backward))
    return 0.0 in values and not one_class


def _most_samples(run: Recorded) -> int:
    """The largest batch of a model. For a single sample a few units may be inactive by chance."""
    sizes = [
        one.shape[0] if len(one.shape) > 1 else 1
        for one in run.facts(BatchSeen)
        if one.role == "input" and one.shape
    ]
    return max(sizes, default=FEWEST_SAMPLES)


def _by_module(silent: list[ParameterSeen]) -> Iterator[tuple[int, str, list[ParameterSeen]]]:
    """The module nearest the loss first: those before it have no gradient because it has none."""
    groups: dict[tuple[int, str], list[ParameterSeen]] = {}
    for one in sorted(silent, key=lambda one: -1 if one.order is None else one.order, reverse=True):
        groups.setdefault((one.model, one.module), []).append(one)
    for (model, path), parameters in groups.items():
        yield model, path, parameters


def _only_bias(parameters: list[ParameterSeen], judged: list[ParameterSeen]) -> bool:
    """Whether the module's weights do learn: a later layer may remove a bias, as batch norm does."""
    first = parameters[0]
    return any(one.alive and one.model == first.model and one.module == first.module for one in judged)


def _is_bias(parameter: ParameterSeen) -> bool:
    return len(parameter.shape) < 2


def _rounded(between: list[Op]) -> Op | None:
    """The first operation that rounds; a parameter beside others that learn is lost there, if anywhere."""
    return next((op for op in reversed(between) if op.name in ROUNDS and op.at is not None), None)


def _look_for(rounded: Op | None) -> str:
    if rounded is None:
        return (
            "Look for a ReLU, clamp or mask after it that zeroes everything, and for a softmax over a single "
            "class."
        )
    return (
        f"`{rounded.text}` has a gradient of zero everywhere: let the gradient pass with a straight-through "
        "estimator, such as `x + (x.round() - x).detach()`."
    )


def _at(op: Op) -> tuple[Because, ...]:
    return (Because(op.at, "the gradient is zero here"),) if op.at is not None else ()


def _starts_at_zero(parameter: ParameterSeen) -> bool:
    """Whether a weight or gate that was initialised with zeros has a gradient: once it changes, so does what it multiplies."""
    start = parameter.start
    is_bias = parameter.name.rpartition(".")[2].endswith("bias")
    return start is not None and start.smallest == start.largest == 0 and not is_bias


def _switches_off(op: Op) -> bool:
    """Whether the program itself multiplies by 0: a disabled loss, or a dropped branch."""
    if op.name != "*":
        return False
    return any((isinstance(one, Constant) and one.value == 0) or _is_chance(one) for one in op.inputs)


@question(start=False, unknown=False)
def _is_chance(value: Value) -> bool:
    if not isinstance(value, Op) or value.attached:
        return False
    return value.name in CHANCE or any(map(_is_chance, value.inputs[:2]))


def _flat(between: list[Op]) -> tuple[Because, ...]:
    """The later operations that can have a zero gradient, the nearest to the loss first."""
    flat = [op for op in between if op.name in FLAT and op.at is not None]
    return tuple(
        Because(op.at, f"the gradient of `{op.text}` can be zero") for op in flat[-1:] if op.at is not None
    )


def _named(parameters: list[ParameterSeen]) -> str:
    return " and ".join(f"`{one.name}`" for one in parameters[:3])


def _elements(parameter: ParameterSeen) -> int:
    size = 1
    for one in parameter.shape:
        size *= one
    return size


def _made(run: Recorded, parameter: ParameterSeen) -> Place | None:
    return next(
        (one.at or one.step_at for one in run.facts(OptimizerSeen) if one.number in parameter.optimizers),
        None,
    )
