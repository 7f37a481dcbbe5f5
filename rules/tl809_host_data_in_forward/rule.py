from collections.abc import Iterator

from trainlint.facts.attachment import attachment, has_parameters
from trainlint.facts.events import Backward, Called, Forward, ToHost
from trainlint.facts.flow import made_of
from trainlint.facts.host import is_born_on_host, is_in_every_forward
from trainlint.facts.torch_api import PACK
from trainlint.facts.training import Training
from trainlint.facts.values import Op, Value, reached
from trainlint.finding import Finding
from trainlint.rule import rule

_PLAIN = frozenset(("item", "tolist"))
_ENDS = _PLAIN | {"numpy"}
_COUNTS = frozenset(("max", "amax", "sum", "count_nonzero"))


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
    reads = [one for one in training.events(ToHost) if one.records is True]
    wanted = _lengths(training) if reads else frozenset()
    for read in reads:
        if read.module is None or (read.name not in _ENDS and not read.name.startswith("numpy.")):
            continue
        if not is_in_every_forward(read) or is_born_on_host(read.tensor) or read.tensor.uid in wanted:
            continue
        if read.name in _PLAIN and not _is_trained(read.tensor):
            continue
        if not has_parameters(read.module) and not training.events(Backward):
            continue  # postprocessing after a model, in evaluation
        often = training.each_time(read, [one for one in training.events(Forward) if one.records])
        if often is None:
            continue
        yield Finding(
            read.at,
            f"{_what(read)} in the forward of `{read.module.type}` forces a device-to-host sync on every "
            "step, no gradient flows through the value, and `torch.compile` breaks the graph here. Use "
            "tensor operations, or do it once, outside of `forward`.",
            evidence=often,
        )


def _is_trained(value: Value) -> bool:
    """Whether a number comes out of parameters, and is not a count, which Python needs for a shape."""
    if isinstance(value, Op) and value.name in _COUNTS:
        return attachment(value).attached
    return any(attachment(one).attached for one in made_of(value))


def _what(read: ToHost) -> str:
    if read.text:
        return f"`{read.text}`"
    return f"`{read.name}()`"


def _lengths(training: Training) -> frozenset[int]:
    """Values that torch needs on the host: lengths for packing."""
    lengths = [
        value
        for call in training.events(Called)
        if call.name == PACK and (value := call.argument(1, "lengths")) is not None
    ]
    return frozenset(
        one.uid for one in reached(lengths, lambda one: one.parts() if isinstance(one, Op) else ())
    )
