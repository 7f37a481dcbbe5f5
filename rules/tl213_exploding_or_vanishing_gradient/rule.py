import math
import re
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from trainlint.facts.ask.evidence import held
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding, Place
from trainlint.rule import rule

FEWEST_LAYERS = 6
FAR_APART = 1e4
"""How many times larger gradients may be at one end of a model than at the other."""
ONE_LEAP = 0.5
"""Share of that, on a logarithmic scale, that may lie between one layer and the next."""
_OF_SCORES = re.compile(r"(?:^|[._])w?(?:q|k|query|key|queries|keys)(?:_proj|_lin|_linear|_layer)?$")
"""Layers that give queries or keys. As long as attention is even, their gradients are tiny, however deep they lie."""


@rule(Recorded, level="warning", by="T")
def check(run: Recorded) -> Iterator[Finding]:
    parameters = [one for one in held(run) if one.expected]
    for model in sorted({one.model for one in parameters}):
        inside = [one for one in parameters if one.model == model]
        for kind in ("weight", "bias"):
            found = _judged(run, inside, kind)
            if found is not None:
                yield found
                break


def _judged(run: Recorded, parameters: list[ParameterSeen], kind: str) -> Finding | None:
    """Compare the first, middle and last third of a model: where gradients shrink or grow all the way."""
    layers = [one for one in parameters if _is_layer(one, kind)]
    if len(layers) < FEWEST_LAYERS:
        return None
    layers.sort(key=lambda one: one.order or 0)
    size = len(layers) // 3
    early, middle, late = (
        median(map(_typical, part)) for part in (layers[:size], layers[size:-size], layers[-size:])
    )
    if not 0 < early < middle < late and not early > middle > late > 0:
        return None
    ratio = late / early
    if 1 / FAR_APART < ratio < FAR_APART or _is_one_leap(layers, ratio):
        return None
    worst = min(layers, key=_typical) if ratio > 1 else max(layers, key=_typical)
    at = worst.at or _stepped_at(run, worst)
    if at is None:
        return None
    first, last = layers[0], layers[-1]
    if ratio > 1:
        said = (
            f"Gradients shrink by a factor of {ratio:.0e} from the last layers of the model to the first: "
            f"`{first.name}` hardly learns. Add normalisation between the layers, add residual connections, "
            "or choose another activation or initialisation."
        )
    else:
        said = (
            f"Gradients grow by a factor of {1 / ratio:.0e} from the last layers of the model to the first: "
            "a learning rate that suits one end ruins the other. Add normalisation between the layers, or "
            "start with smaller weights."
        )
    return Finding(
        at,
        said,
        subject=worst.name,
        evidence={
            f"gradient norm of {first.name}": _norm(first),
            f"gradient norm of {last.name}": _norm(last),
            "global gradient norm": math.sqrt(sum(_norm(one) ** 2 for one in parameters)),
            "layers": len(layers),
            "factor": max(ratio, 1 / ratio),
        },
    )


def _is_one_leap(layers: list[ParameterSeen], ratio: float) -> bool:
    """Whether it happens between two layers, as between the parts of a model that do not feed each other."""
    sizes = [math.log(_typical(one)) for one in layers]
    leaps = [later - earlier for earlier, later in pairwise(sizes)]
    return max(abs(one) for one in leaps) > ONE_LEAP * abs(math.log(ratio))


def _is_layer(parameter: ParameterSeen, kind: str) -> bool:
    gradient = parameter.gradient
    dimensions = len(parameter.shape) >= 2 if kind == "weight" else len(parameter.shape) == 1
    return (
        gradient is not None
        and parameter.order is not None
        and parameter.uses == 1
        and parameter.name.rpartition(".")[2] == kind
        and not _OF_SCORES.search(parameter.name.rpartition(".")[0])
        and dimensions
        and gradient.norm > 0
        and not gradient.non_finite
        and math.isfinite(gradient.norm)
    )


def _typical(parameter: ParameterSeen) -> float:
    """Root of the mean square of a gradient's elements."""
    return _norm(parameter) / math.sqrt(max(1, math.prod(parameter.shape)))


def _norm(parameter: ParameterSeen) -> float:
    return parameter.gradient.norm if parameter.gradient is not None else 0.0


def _stepped_at(run: Recorded, parameter: ParameterSeen) -> Place | None:
    return next((one.step_at for one in run.facts(OptimizerSeen) if one.number in parameter.optimizers), None)
