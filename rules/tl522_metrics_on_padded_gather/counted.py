"""What is gathered of each sample, and counted or averaged with all the samples that there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.api.noted import METRICS
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.model.elements import plain
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Returned
from trainlint.facts.model.events.frameworks import Gathered
from trainlint.facts.model.events.losses import Accumulated
from trainlint.facts.model.events.operations import Operation, ToHost
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Value, constant
from trainlint.finding import Place

_KEEP_SAMPLES = frozenset(
    "cpu numpy float double half long int bool to type detach contiguous tolist cat concat concatenate numpy.concatenate "
    "numpy.array numpy.asarray tensor argmax softmax sigmoid log_softmax round == != eq ne > >= < <= gt ge lt le iterate "
    "builtins.list abs normalize + - * //".split()
)
"""What gives as many samples as it is given."""
_GIVES_EACH = _KEEP_SAMPLES | frozenset("getattr getitem output squeeze".split())
_OF_SEVERAL = frozenset("== != eq ne + - * //".split())
"""What goes through several tensors sample by sample, or a tensor and a number."""
_AVERAGES = frozenset(("mean", "numpy.mean", "statistics.mean"))
_SUMS = frozenset("sum builtins.sum numpy.sum count_nonzero bincount numpy.bincount histc".split())
_READS = frozenset("item float int builtins.float builtins.int view reshape".split())
_COUNTS = frozenset(("size", "numel", "builtins.len", "shape"))
_MOST = 2000


def counted_whole(training: Training, gathered: Gathered) -> Place | None:
    """Where all samples that are gathered are averaged, or counted, with nothing cut off."""
    made = gathered.output.parts() if isinstance(gathered.output, Items) else [gathered.output]
    each = frozenset(one.uid for one in made if isinstance(one, Op) and _is_of_each(one))
    if not each or _comes_out_even(gathered.by):
        return None
    for event in training.events(Accumulated):
        if event.loops[-1:] == gathered.loops[-1:] and _is_sum(event.value, each):
            return event.at
    for one in reached(_results(training), most=_MOST):
        if isinstance(one, Op) and one.at is not None and _takes_all(one, each):
            return one.at
    return None


def _comes_out_even(helper: Value) -> bool:
    """Whether a helper is told not to fill up the last batch, or how to hand out batches."""
    told = helper.options if isinstance(helper, Object) else {}
    return "even_batches" in told or "dataloader_config" in told


def _results(training: Training) -> Iterator[Value]:
    """What a program says of its evaluation, to its caller or to people."""
    yield from (one.value for one in training.events(Returned))
    yield from (one.tensor for one in training.events(ToHost))
    yield from (one.output for one in training.events(Operation))
    for call in training.events(Called):
        yield from (*call.args, *call.options.values())


def _is_of_each(gathered: Op) -> bool:
    """Whether what is gathered has something of each sample: outputs and targets, and not what was made of a whole batch."""
    inside = [one for one in reached(gathered.inputs, _until_given) if isinstance(one, Op)]
    return bool(inside) and all(
        _is_given(one)
        or _is_loss_of_each(one)
        or (plain(one) in _GIVES_EACH and constant(one.options.get("name")) != "loss")
        for one in inside
    )


def _until_given(value: Value) -> Iterable[Value]:
    return () if isinstance(value, Op) and _is_given(value) else value.parts()


def _is_given(op: Op) -> bool:
    """Whether it is what a loader hands out, or what a module returns."""
    return op.name == "iterate" or (op.owner is not None and "Loss" not in op.owner.type)


def _is_loss_of_each(op: Op) -> bool:
    told = op.options.get("reduction") or (
        op.owner.options.get("reduction") if op.owner is not None else None
    )
    return bool(constant(told) == "none")


def _takes_all(op: Op, each: frozenset[int]) -> bool:
    """Whether an operation is the mean over all samples, divides by how many there are, or is a metric of them."""
    name = plain(op)
    if name in _AVERAGES:
        return len(op.inputs) == 1 and "dim" not in op.options and is_whole(op.inputs[0], each)
    if name == "/" and len(op.inputs) == 2:
        return _is_number(op.inputs[1], each)
    return op.name.startswith(METRICS) and any(is_whole(one, each) for one in op.inputs)


def _is_number(value: Value, each: frozenset[int]) -> bool:
    """Whether a number is how many samples were gathered in all."""
    while isinstance(value, Op) and value.name in ("getitem", "builtins.max", "clamp") and value.inputs:
        value = value.inputs[0]
    return isinstance(value, Op) and value.name in _COUNTS and is_whole(value.inputs[0], each)


def _is_sum(value: Value, each: frozenset[int]) -> bool:
    """Whether a number, or a table, sums up the samples of a batch: `gather(right).sum().item()`."""
    while isinstance(value, Op) and value.name in _READS and value.inputs:
        value = value.inputs[0]
    return (
        isinstance(value, Op)
        and value.name in _SUMS
        and "dim" not in value.options
        and is_whole(value.inputs[0], each)
    )


@question(start=False, unknown=False)
def is_whole(value: Value, each: frozenset[int]) -> bool:
    """Whether a value has all samples that were gathered, in a tensor or in a list over all batches."""
    if value.uid in each:
        return True
    if isinstance(value, Items):
        return not value.exact and bool(value.items) and all(is_whole(one, each) for one in value.items)
    if not isinstance(value, Op) or value.written or plain(value) not in _KEEP_SAMPLES or not value.inputs:
        return False
    if plain(value) in _OF_SEVERAL:
        return any(is_whole(one, each) for one in value.inputs)
    return is_whole(value.inputs[0], each)
