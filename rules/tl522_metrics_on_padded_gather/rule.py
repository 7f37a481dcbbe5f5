from collections.abc import Iterator

from trainlint.facts.ask.contents import leaves
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.frameworks import Gathered, Prepared
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Op, Value, alternatives
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_METRICS = frozenset(("add_batch", "update"))
"""Methods by which metrics are given the samples of a batch."""


@rule(Training, level="warning", by="S")
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
        drawn = any(
            event.loader.uid in handed and event.loops[-1:] == one.loops[-1:]
            for event in training.events(Drawn)
        )
        used = _used(training, one)
        if evaluates and drawn and used is not None and one.at not in done:
            done.add(one.at)
            yield Finding(
                one.at,
                "The last batch is filled up with samples from the first, so that every process has as many: they count "
                "twice in this metric. Call `gather_for_metrics`, which drops them.",
                (Because(used.at, "the metric is given all of them here"),),
            )


def leaves_of(output: Value) -> list[Value]:
    """The tensors that are gathered, each as one value."""
    return [output] if isinstance(output, Op) else list(output.parts())


def _used(training: Training, gathered: Gathered) -> Called | None:
    """The call of a metric that is given what is gathered, with nothing cut off."""
    wanted = {one.uid for one in leaves_of(gathered.output)}
    for call in training.events(Called):
        if call.name in _METRICS and any(one.uid in wanted for one in (*call.args, *call.options.values())):
            return call
    return None
