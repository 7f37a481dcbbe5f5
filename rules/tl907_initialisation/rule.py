from collections.abc import Iterator
from itertools import pairwise
from math import prod, sqrt

from trainlint.facts.model.events.modules import ModuleChanged
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.tensors import Spread
from trainlint.finding import Finding, Place
from trainlint.rule import rule

_LAYERS = ("torch.nn.Linear", "torch.nn.Conv", "torch.nn.modules.linear", "torch.nn.modules.conv")
_TOO_WIDE = 10.0
"""Size of a weight times the square root of its fan-in: about 1 keeps the scale of activations."""
_TOO_NARROW = 0.02
_FAN_IN = 16
_WIDE_OUTPUT = 5.0
_SEVERAL = 3


@rule(Recorded, level="warning", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    if recorded.ending.after:
        return  # these weights have been trained
    models: dict[int, list[ParameterSeen]] = {}
    for one in recorded.facts(ParameterSeen):
        models.setdefault(one.model, []).append(one)
    for number, parameters in models.items():
        layers = sorted(filter(_is_layer, parameters), key=lambda one: one.order or 0)
        weights = [one for one in layers if one.shape[0] > 1]
        yield from _all_equal(
            layers, {one.path: one.at for one in recorded.facts(ModuleSeen) if one.number == number}
        )
        yield from _all_zero(weights, parameters)
        if not recorded.events(ModuleChanged):
            modules = [
                one for one in recorded.facts(ModuleSeen) if one.number == number and one.order is not None
            ]
            yield from _too_wide(weights, modules)
            yield from _too_narrow(weights, modules)


def _is_layer(one: ParameterSeen) -> bool:
    """Whether it is the weight of a linear or convolution layer that has several inputs."""
    return (
        one.module_type.startswith(_LAYERS)
        and one.name.rpartition(".")[2] == "weight"
        and len(one.shape) > 1
        and prod(one.shape[1:]) > 1
        and one.trainable
        and one.order is not None
        and one.start is not None
        and not one.start.non_finite
    )


def _is_constant(start: Spread | None) -> bool:
    return start is not None and start.smallest == start.largest


def _is_zero(start: Spread | None) -> bool:
    return start is not None and start.smallest == start.largest == 0


def _all_equal(layers: list[ParameterSeen], places: dict[str, Place | None]) -> Iterator[Finding]:
    """A layer whose units are all equal, before one that treats them equally: they stay equal."""
    for first, second in pairwise(layers):
        if first.shape[0] < 2 or first.start is None or _is_zero(first.start):
            continue
        if _is_constant(first.start) and _is_constant(second.start):
            at = first.at or _around(first.module, places)
            if at is None:
                continue
            yield Finding(
                at,
                f"All elements of `{first.name}` are {first.start.mean:g}, and those of `{second.name}` "
                f"after it are equal too: its {first.shape[0]} units compute the same and get the same "
                "gradients, so they always stay identical. Initialise weights at random, as torch does by "
                "default.",
                subject=first.name,
                evidence={"value": first.start.mean, "units": first.shape[0]},
            )
            return


def _around(path: str, places: dict[str, Place | None]) -> Place | None:
    """Where the nearest module that holds another is created: some create their own layers, or copies of them."""
    while path:
        path = path.rpartition(".")[0]
        if (at := places.get(path)) is not None:
            return at
    return None


def _all_zero(weights: list[ParameterSeen], parameters: list[ParameterSeen]) -> Iterator[Finding]:
    """Layers of zeros that keep each other from learning; a single layer of zeros does not."""
    zeros = [one for one in weights if _is_zero(one.start)]
    others = [one for one in parameters if _is_zero(one.start) and not one.name.endswith("bias")]
    if len(zeros) < 2 or zeros[0].at is None:
        return
    if any(one.gradient is None or one.gradient.norm > 0 for one in (*zeros, *others)):
        return
    yield Finding(
        zeros[0].at,
        f"`{zeros[0].name}` and {len(zeros) - 1} more weights are all 0, and so are their gradients: each "
        "layer of zeros keeps the next from learning. Initialise weights at random; only a last layer or the "
        "end of a residual branch may be zero.",
        subject=zeros[0].name,
        evidence={"weights of zeros": len(zeros), "their gradient norm": 0.0},
    )


def _fan_in(one: ParameterSeen) -> int:
    if "ConvTranspose" in one.module_type:
        return one.shape[0] * prod(one.shape[2:])
    return prod(one.shape[1:])


def _gain(one: ParameterSeen) -> float:
    start = one.start
    return sqrt((start.std**2 + start.mean**2) * _fan_in(one)) if start is not None else 1.0


def _too_wide(weights: list[ParameterSeen], modules: list[ModuleSeen]) -> Iterator[Finding]:
    said: set[Place] = set()
    for one in weights:
        if (
            one.start is None
            or one.at is None
            or one.start.std == 0
            or one.uses > 1
            or _fan_in(one) < _FAN_IN
        ):
            continue
        if one.at in said:
            continue
        seen = next((module for module in modules if module.path == one.module), None)
        if (
            seen is None
            or seen.spread is None
            or not seen.spread.std > _WIDE_OUTPUT
            or _gain(one) <= _TOO_WIDE
        ):
            continue
        later = (module for module in modules if (module.order or 0) > (one.order or 0))
        following = min(later, key=lambda module: module.order or 0, default=None)
        if following is not None and "Norm" in following.type:
            continue
        said.add(one.at)
        yield Finding(
            one.at,
            f"`{one.name}` is initialised with a standard deviation of {one.start.std:.3g}; with a fan-in of "
            f"{_fan_in(one)}, about {1 / sqrt(_fan_in(one)):.2g} keeps the scale. The standard deviation of "
            f"its outputs is {seen.spread.std:.3g}, so later layers saturate or explode. Keep torch's "
            "default initialisation, or use one of `nn.init` that depends on the fan-in.",
            subject=one.name,
            evidence={
                "standard deviation": one.start.std,
                "fan-in": _fan_in(one),
                "of the outputs": seen.spread.std,
            },
        )


def _too_narrow(weights: list[ParameterSeen], modules: list[ModuleSeen]) -> Iterator[Finding]:
    """Most layers shrink their inputs, and no normalisation makes up for it."""
    small = [
        one for one in weights if one.start is not None and one.start.std > 0 and _gain(one) < _TOO_NARROW
    ]
    if len(small) < _SEVERAL or 2 * len(small) <= len(weights) or any("Norm" in one.type for one in modules):
        return
    first = small[0]
    if first.at is not None and first.start is not None:
        yield Finding(
            first.at,
            f"`{first.name}` and {len(small) - 1} more weights are initialised so small that each layer "
            f"shrinks activations and gradients at least {1 / _TOO_NARROW:.0f} times. Keep torch's default "
            "initialisation, or use one of `nn.init` that depends on the fan-in.",
            subject=first.name,
            evidence={
                "standard deviation": first.start.std,
                "fan-in": _fan_in(first),
                "weights as small": len(small),
            },
        )
