from collections.abc import Iterator

from trainlint.facts.model.events.forwards import Normalised
from trainlint.facts.model.values import Constant, Object, Op, Value, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

BIAS = {
    "linear": 2,
    **dict.fromkeys(
        ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), 7
    ),
}
"""Layers with a bias, and its position among the arguments of their constructors."""


@rule(Normalised, level="info")
def check(call: Normalised) -> Iterator[Finding]:
    norm = call.output.owner
    made = _maker(call.output.inputs[0] if call.output.inputs else None)
    layer = made.owner if made is not None else None
    if norm is None or made is None or layer is None or layer.at is None or not _has_bias(made, layer):
        return
    because = (Because(norm.at, "this normalisation removes it"),) if norm.at is not None else ()
    yield Finding(
        layer.at,
        f"`{layer.type.removeprefix('torch.')}` has a bias, and the `{norm.type.removeprefix('torch.')}` "
        "after it subtracts the mean and with it the bias: the gradient of the bias is zero up to rounding. "
        "Pass `bias=False`.",
        because,
    )


def _maker(value: Value | None) -> Op | None:
    """The layer whose output is normalised directly."""
    while isinstance(value, Op) and value.name == "output" and value.inputs:
        value = value.inputs[0]
    return value if isinstance(value, Op) and value.name in BIAS else None


def _has_bias(made: Op, layer: Object) -> bool:
    if made.seen is not None:
        given = made.option(2, "bias")
        return given is not None and not (isinstance(given, Constant) and given.value is None)
    asked = layer.argument(BIAS[made.name], "bias")
    return not layer.is_open and (asked is None or constant(asked) is True)
