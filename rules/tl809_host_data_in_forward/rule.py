from collections.abc import Iterator

from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.api.noted import PACK
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment, cuts, is_index
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.ask.host import is_born_on_host, is_in_every_forward, is_on_host
from trainlint.facts.model.effort import spend
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.operations import ToHost
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Constant, Items, Op, Table, Value, constant
from trainlint.finding import Finding, Open
from trainlint.rule import rule

_PLAIN = frozenset(("item", "tolist"))
_ENDS = _PLAIN | {"numpy"}
_WHOLE = frozenset(
    "argmax argmin argsort nonzero unique bincount searchsorted bucketize long int multinomial".split()
)
_COUNTS = frozenset(("max", "amax", "sum", "count_nonzero"))


@rule(Training, level="warning", confidence="likely", costs=True)
def check(training: Training) -> Iterator[Finding | Open]:
    reads = [one for one in training.events(ToHost) if one.records is True]
    wanted = _lengths(training) if reads else frozenset()
    said: set[tuple[str, int]] = set()
    for read in reads:
        if read.module is None or (read.name not in _ENDS and not read.name.startswith("numpy.")):
            continue
        if not is_in_every_forward(read) or is_born_on_host(read.tensor) or read.tensor.uid in wanted:
            continue
        if (
            _is_training_step(training, read)
            or _is_now_and_then(training, read)
            or _only_acts(training, read)
        ):
            continue
        is_brought = read.name not in _PLAIN and _is_brought_to_host(read.tensor)
        if not is_brought and not _is_trained(read.tensor):
            continue  # NumPy refuses what is on another device, or has a graph
        if _are_whole(read.tensor) or (read.at.path, read.at.line) in said:
            continue
        if not has_parameters(read.module):
            continue  # a loss that logs its terms, or postprocessing after a model
        often = training.each_time(read, [one for one in training.events(Forward) if one.records])
        if often is None:
            yield Open(read.at, "whether each forward does this")
            continue
        said.add((read.at.path, read.at.line))
        yield Finding(
            read.at,
            f"{_what(read)} in the forward of `{read.module.type}` forces a device-to-host sync on every "
            "step, no gradient flows through the value, and `torch.compile` breaks the graph here. Use "
            "tensor operations, or do it once, outside of `forward`.",
            evidence=often,
        )


def _is_training_step(training: Training, read: ToHost) -> bool:
    """Whether the function that reads also runs `backward` or steps, or the forward does that it is a part of: the graph
    has been used, and ends there, and the module is no layer."""
    inside = [
        (*one.calls, one.at)
        for one in training.events(Forward)
        if one.module is read.module and read.calls[: len(one.calls) + 1] == (*one.calls, one.at)
    ]
    return any(
        one.calls == read.calls or any(one.calls[: len(way)] == way for way in inside)
        for kind in (Backward, OptimizerStep)
        for one in training.events(kind)
    )


def _is_now_and_then(training: Training, read: ToHost) -> bool:
    """Whether only a forward that a condition in the loop asks for reads it, and another one of every step does not: `debug=True`
    for the first batch."""
    forwards = [one for one in training.events(Forward) if one.loops]
    inside = [one for one in forwards if read.calls[: len(one.calls) + 1] == (*one.calls, one.at)]
    return any(
        other.module is one.module and not training.inside_loop(other)
        for one in inside
        if training.inside_loop(one)
        for other in forwards
    )


def _only_acts(training: Training, read: ToHost) -> bool:
    """Whether all that this forward gives back are numbers on the host, as an action for an environment, or a label: no loss
    can be made of it."""
    results = [one.value for one in training.events(Returned) if one.receiver is read.module]
    results += [
        one.output
        for one in training.events(Forward)
        if one.module is read.module and read.calls[: len(one.calls) + 1] == (*one.calls, one.at)
    ]
    ends = [end for result in results for end in reached([result], _in_result) if not _in_result(end)]
    return bool(ends) and all(isinstance(end, Constant) or is_on_host(end) for end in ends)


def _in_result(value: Value) -> tuple[Value, ...]:
    return tuple(value.parts()) if isinstance(value, (Items, Table, Choice)) else ()


def _is_brought_to_host(value: Value) -> bool:
    """Whether the program itself brings a tensor to the host, so that it may have been on another device."""
    return any(
        isinstance(one, Op)
        and (one.name == "cpu" or (one.name == "to" and constant(one.option(1, "device")) == "cpu"))
        for one in made_of(value)
    )


def _is_trained(value: Value) -> bool:
    """Whether a number comes out of parameters, and is not a count, which Python needs for a shape."""
    if isinstance(value, Op) and value.name in _COUNTS:
        return attachment(value).attached
    return any(attachment(one).attached for one in made_of(value))


def _are_whole(value: Value) -> bool:
    """Whether these are indices or counts: no gradient would flow through them, and Python needs them for sizes, slices
    and choices of a layer."""
    while (
        isinstance(value, Op)
        and value.inputs
        and (value.name in KEEPS or cuts(value))
        and not is_index(value)
    ):
        spend()
        value = value.inputs[0]
    return isinstance(value, Op) and (is_index(value) or value.name in _WHOLE)


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
