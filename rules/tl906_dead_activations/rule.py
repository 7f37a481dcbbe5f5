from collections.abc import Iterator
from math import prod

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.rectifiers import Flattened, Rectified
from trainlint.facts.seen.tensors import Shape
from trainlint.finding import Finding, Place
from trainlint.rule import rule

_MOST = 0.9
"""Share of dead units. In a deep plain network up to about half of them are 0 for a whole batch, and recover."""
_FLAT = 0.95
_MIDDLE = {"tanh": (-0.8, 0.8), "sigmoid": (0.1, 0.9)}
"""Where the mean is if both ends occur."""
_UNITS = 16
_SAMPLES = 16


@rule(Recorded, level="warning", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    modules = recorded.facts(ModuleSeen)
    for one in modules:
        if one.at is None or one.output is None:
            continue
        if one.dead is not None and one.dead >= _MOST and _is_large(one.output):
            yield _dead(one.at, one.dead, one.output, one.path or None)
        if (
            one.saturated is not None
            and one.saturated >= _FLAT
            and _is_inside(one, modules)
            and _is_two_sided(one)
        ):
            yield _saturated(one.at, one.saturated, one.type.rpartition(".")[2], one.output, one.path or None)
    calls: dict[tuple[Place, int | None], list[Rectified]] = {}
    for call in recorded.facts(Rectified):
        calls.setdefault((call.at, call.layer), []).append(call)
    for (at, _), found in calls.items():
        if all(call.dead >= _MOST and _is_large(call.shape) for call in found):
            yield _dead(at, min(call.dead for call in found), found[0].shape, found[0].module or None)
    yield from _functions(recorded, modules)


def _functions(recorded: Recorded, modules: list[ModuleSeen]) -> Iterator[Finding]:
    """Sigmoids and tanhs that are called as functions."""
    calls: dict[tuple[Place, int | None], list[Flattened]] = {}
    for call in recorded.facts(Flattened):
        calls.setdefault((call.at, call.layer), []).append(call)
    for (at, _), found in calls.items():
        is_flat = all(call.saturated >= _FLAT and _is_large(call.shape) for call in found)
        low, high = _MIDDLE[found[0].name]
        if is_flat and _is_before_others(found[0], modules) and all(low < call.mean < high for call in found):
            share, name = min(call.saturated for call in found), found[0].name
            yield _saturated(at, share, name, found[0].shape, found[0].module or None)


def _is_before_others(call: Flattened, modules: list[ModuleSeen]) -> bool:
    """Whether a layer of the same model with parameters comes after it."""
    is_one = len({one.number for one in modules}) == 1
    return any(
        one.parameters and one.order is not None and one.order >= call.called
        for one in modules
        if is_one or one.model == call.model
    )


def _units(shape: Shape) -> int:
    return shape[1] if len(shape) == 4 else shape[-1]


def _is_large(shape: Shape) -> bool:
    units = _units(shape)
    return units >= _UNITS and prod(shape) // max(units, 1) >= _SAMPLES


def _is_inside(one: ModuleSeen, modules: list[ModuleSeen]) -> bool:
    """Whether a layer with parameters comes after it: it is not an output, which may be near 0 or 1."""
    return one.order is not None and any(
        other.number == one.number
        and other.parameters
        and other.order is not None
        and other.order > one.order
        for other in modules
    )


def _is_two_sided(one: ModuleSeen) -> bool:
    """Whether both ends occur: a gate that is always closed or always open may be on purpose."""
    low, high = _MIDDLE["tanh" if one.type == "torch.nn.Tanh" else "sigmoid"]
    large = one.output is not None and len(one.output) > 1 and _is_large(one.output)
    return large and one.spread is not None and low < one.spread.mean < high


def _dead(at: Place, share: float, shape: Shape, subject: str | None) -> Finding:
    units = _units(shape)
    return Finding(
        at,
        f"{round(share * units)} of the {units} units after this ReLU are 0 for every sample of the batch, "
        "so no gradient reaches the weights before it. Check the scale of its inputs, the initial weights "
        "and biases, and the learning rate; LeakyReLU and GELU pass some gradient.",
        subject=subject,
        evidence={"dead units": share, "units": units, "shape": str(shape)},
    )


def _saturated(at: Place, share: float, name: str, shape: Shape, subject: str | None) -> Finding:
    return Finding(
        at,
        f"{share:.0%} of the outputs of this {name} are saturated, where its gradient "
        "is almost 0, so the layers before it hardly learn. Normalise its inputs, or initialise with smaller "
        "weights.",
        subject=subject,
        evidence={"saturated": share, "shape": str(shape)},
    )
