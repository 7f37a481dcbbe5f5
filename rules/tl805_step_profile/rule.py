from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.pace import Pace
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding
from trainlint.rule import rule

_HOT = 0.5
"""Share of the time of all modules from which on one of them is reported."""
_FEWEST = 4
"""Modules below which one always has a large share."""
_LONG = 0.02
"""Seconds below which most of a module's cost is the recorder's."""
_CALLS = 6
"""Calls of which the fastest shows the cost of a module, without other load on the machine."""
_WARM = 3
"""Backward passes after which torch has allocated the memory that a step needs."""
_WINDOW = 4
"""Backward passes over which growth is measured: an allocator takes memory in bigger pieces than a step needs."""
_WINDOWS = 3
"""Such spans in a row that have to grow."""
_GROWTH = 256 * 1024
"""Growth per step, in bytes, that is not noise."""
_MEGABYTE = 2**20


@rule(Recorded, level="info", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    for pace in recorded.facts(Pace):
        yield from _grows(recorded, pace)
        yield from _hot(recorded, pace)


def _grows(recorded: Recorded, pace: Pace) -> Iterator[Finding]:
    warm = pace.memory[_WARM::_WINDOW]
    each = [(later - before) / _WINDOW for before, later in pairwise(warm)]
    if len(each) < _WINDOWS or min(each) < _GROWTH:
        return
    what = "tensors on CUDA use" if pace.device == "cuda" else "the process uses"
    yield Finding(
        pace.at,
        f"After each backward, {what} {median(each) / _MEGABYTE:.1f} MB more than after the previous one, "
        f"over {len(each) * _WINDOW} of them: something keeps tensors of earlier steps alive, such as a list "
        "of losses or outputs with their graphs. Store numbers or detached tensors.",
        evidence={
            "MB more after each backward": round(median(each) / _MEGABYTE, 2),
            **_numbers(recorded, pace),
        },
    )


def _hot(recorded: Recorded, pace: Pace) -> Iterator[Finding]:
    """On CUDA, the host's clock does not show what the device works on."""
    timed = [one for one in recorded.facts(ModuleSeen) if one.seconds is not None]
    if len(timed) <= _FEWEST or {one.device for one in recorded.facts(ParameterSeen)} != {"cpu"}:
        return
    costs = {(one.number, one.path): (one.seconds or 0.0) * one.calls for one in timed}
    hottest = max(timed, key=lambda one: costs[one.number, one.path])
    cost, share = (
        costs[hottest.number, hottest.path],
        costs[hottest.number, hottest.path] / sum(costs.values()),
    )
    if share < _HOT or cost / hottest.calls < _LONG or hottest.calls < _CALLS:
        return
    name = hottest.path or hottest.type
    yield Finding(
        hottest.at or pace.at,
        f"`{name}` ({hottest.type.removeprefix('torch.')}) takes {share:.0%} of the forward time of all "
        "modules: to make the step faster, optimise this module first.",
        subject=name,
        evidence={"share of the forward": round(share, 2), **_numbers(recorded, pace)},
    )


def _numbers(recorded: Recorded, pace: Pace) -> dict[str, float | str]:
    """The speed of a step. The recorder makes each step slower."""
    found: dict[str, float | str] = {}
    if pace.seconds:
        step = median(pace.seconds)
        found["seconds of a step, with the recorder"] = round(step, 4)
        forwards = recorded.ending.forwards / max(recorded.ending.steps, 1)
        inputs = [one for one in recorded.facts(BatchSeen) if one.role == "input" and one.shape]
        if inputs and step:
            first = inputs[0]
            found["samples per second"] = round(first.shape[0] * forwards / step, 1)
            if len(first.shape) == 2 and first.dtype.startswith("int"):
                found["tokens per second"] = round(first.shape[0] * first.shape[1] * forwards / step, 1)
    if pace.peak is not None:
        found[f"peak memory in MB ({'tensors' if pace.device == 'cuda' else 'process'})"] = round(
            pace.peak / _MEGABYTE
        )
    return found
