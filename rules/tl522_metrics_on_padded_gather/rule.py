from collections.abc import Iterable, Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import leaves
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.frameworks import Gathered, Prepared
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Items, Object, Op, Value, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .counted import counted_whole

_METRICS = frozenset(("add_batch", "update"))
"""Methods by which metrics are given the samples of a batch."""
_SAME = frozenset("tolist numpy cpu".split())
"""What leaves every sample of a tensor where it is."""
_MOST = 200


@rule(Training, level="warning", by="S", words="prepare")
def check(training: Training) -> Iterator[Finding]:
    gathered = [one for one in training.events(Gathered) if one.padded and one.loops]
    handed = {
        found.uid
        for one in training.events(Prepared)
        for given in alternatives(one.what)
        for found in leaves(given)
    }
    done = set()
    for one in gathered:
        evaluates = any(
            forward.records is False and is_made_of(one.what, forward.output)
            for forward in training.events(Forward)
        )
        if not evaluates or not _is_drawn(training, one, handed) or one.at in done:
            continue
        used = _used(training, one)
        if used is not None:
            done.add(one.at)
            call, is_list = used
            yield Finding(
                one.at,
                "The last batch is filled up with samples from the first, so that every process has as many: they count "
                "twice in this metric. Call `gather_for_metrics`, which drops them.",
                (Because(call.at, "the metric is given all of them here"),),
                confidence="likely" if is_list else None,
                doubt="the list that is made of them may leave out the extra samples" if is_list else "",
            )
            continue
        counted = counted_whole(training, one)
        if counted is not None:
            done.add(one.at)
            yield Finding(
                one.at,
                "The last batch is filled up with samples from the first, so that every process has as many: they count "
                "twice in what is averaged of them. Call `gather_for_metrics`, which drops them.",
                (Because(counted, "all of them are counted here"),),
                confidence="likely",
                doubt="the loader may have as many samples for each process",
            )


def _is_drawn(training: Training, gathered: Gathered, handed: set[int]) -> bool:
    """Whether something is gathered in a loop over what was prepared: a loader, or what nothing in sight says more of."""
    loop = training.loops.get(gathered.loops[-1])
    over = [loop.over] if loop is not None and loop.over is not None else []
    return any(
        one.uid in handed
        or (isinstance(one, Object) and one.stands_for is not None and one.stands_for.uid in handed)
        for one in reached(over, _drawn_from, _MOST)
    )


def _drawn_from(value: Value) -> Iterable[Value]:
    return () if isinstance(value, Op) and value.name == "builtins.len" else value.parts()


def leaves_of(output: Value) -> list[Value]:
    """The tensors that are gathered, each as one value."""
    return [output] if isinstance(output, Op) else list(output.parts())


def _used(training: Training, gathered: Gathered) -> tuple[Called, bool] | None:
    """The call of a metric that is given what is gathered, with nothing cut off, and whether a list is made of it before,
    which may leave out some."""
    wanted = {one.uid for one in leaves_of(gathered.output)}
    for call in training.events(Called):
        if call.name in _METRICS:
            given = [*call.args, *call.options.values()]
            if any(_is_all_of(one, wanted) for one in given):
                return call, False
            if any(_is_list_of(one, wanted) for one in given):
                return call, True
    return None


def _is_all_of(value: Value, wanted: set[int]) -> bool:
    """Whether a value is one of some tensors, as another type, or on another device."""
    while isinstance(value, Op) and value.uid not in wanted and value.name in _SAME and value.inputs:
        value = value.inputs[0]
    return value.uid in wanted


def _is_list_of(value: Value, wanted: set[int]) -> bool:
    """Whether a comprehension goes through one of some tensors from its first to its last sample."""
    return isinstance(value, Items) and any(
        isinstance(one, Op) and one.name == "iterate" and _is_all_of(one.inputs[0], wanted)
        for one in reached(value.items, most=_MOST)
    )
