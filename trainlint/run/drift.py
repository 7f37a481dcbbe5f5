"""What ranks that train one model should have in common after each step: its gradients and its weights, and no batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.ranks import BatchSums, Drift, ParameterSums, SameBatches

_OF_GRADIENTS = 1e-4
_OF_WEIGHTS = 1e-6
"""Relative differences that rounding may make, where ranks add up in another order."""

_FEWEST_BATCHES = 2

Runs = Mapping[int, Recorded]
Parameter = dict[int, ParameterSums]
"""One parameter, by rank."""


def drifts(runs: Runs) -> Iterator[Drift | SameBatches]:
    """Where copies of one model drift apart, and whether all ranks read the same batches."""
    if len(runs) < 2:
        return
    parameters = _in_common(runs)
    copied = [one for one in parameters if all(each.copied for each in one.values())]
    if copied:
        yield from _of_copies(copied)
        yield from _same_batches(runs)
    elif parameters and _do_the_same(runs):
        yield from _without_copies(parameters)


def _in_common(runs: Runs) -> list[Parameter]:
    """The parameters that all ranks step."""
    by_name: dict[str, Parameter] = {}
    for number, run in runs.items():
        for one in run.facts(ParameterSums):
            by_name.setdefault(one.name, {})[number] = one
    return [held for held in by_name.values() if len(held) == len(runs)]


def _of_copies(parameters: list[Parameter]) -> Iterator[Drift]:
    """Under `DistributedDataParallel`, all gradients are the same on all ranks, and so are all weights."""
    for step in range(_steps(parameters)):
        apart = [one for one in parameters if _differ(_gradients(one, step), _OF_GRADIENTS)]
        if apart:
            yield _drift("gradients", step, apart, _gradients(apart[0], step))
            return
    for step in range(_steps(parameters)):
        apart = [one for one in parameters if _differ(_weights(one, step), _OF_WEIGHTS)]
        if apart:
            yield _drift("weights", step, apart, _weights(apart[0], step))
            return


def _without_copies(parameters: list[Parameter]) -> Iterator[Drift]:
    """Without it, the program may average gradients or weights itself, or give each rank a part of the model."""
    if _steps(parameters) < 2:
        return
    used = [
        one
        for one in parameters
        if None not in _gradients(one, 0).values() and any(_gradients(one, 0).values())
    ]
    apart = [one for one in used if _differ(_gradients(one, 0), _OF_GRADIENTS)]
    begin_apart = [one for one in used if _differ(_weights(one, 0), _OF_WEIGHTS)]
    if used and not apart and begin_apart:
        yield _drift("weights", 0, begin_apart, _weights(begin_apart[0], 0))
    elif used and len(apart) == len(used) and all(_differ(_weights(one, 1), _OF_WEIGHTS) for one in used):
        what = "everything" if begin_apart else "unaveraged"
        yield _drift(what, 0, apart, _gradients(apart[0], 0))


def _do_the_same(runs: Runs) -> bool:
    """Whether all ranks compute gradients at the same lines, from batches of their own."""
    places = [frozenset(one.at for one in run.events(Backward)) for run in runs.values()]
    batches = [tuple(one.sums for one in run.facts(BatchSums)) for run in runs.values()]
    return bool(places[0]) and len(set(places)) == 1 and all(batches) and len(set(batches)) == len(batches)


def _same_batches(runs: Runs) -> Iterator[SameBatches]:
    held = [next(iter(run.facts(BatchSums)), None) for run in runs.values()]
    sums = [one.sums for one in held if one is not None]
    if len(sums) < len(runs):
        return
    count = min(map(len, sums))
    first = sums[0][:count]
    if len(set(first)) >= _FEWEST_BATCHES and all(one[:count] == first for one in sums):
        yield SameBatches(held[0].at if held[0] is not None else None, count)


def _drift(what: str, step: int, apart: list[Parameter], sums: Mapping[int, float | None]) -> Drift:
    first = next(iter(apart[0].values()))
    known = {number: one for number, one in sums.items() if one is not None}
    return Drift(first.at, what, step + 1, first.name, len(apart), known)


def _steps(parameters: list[Parameter]) -> int:
    return min(len(each.weights) for one in parameters for each in one.values())


def _gradients(parameter: Parameter, step: int) -> dict[int, float | None]:
    return {number: one.gradients[step] for number, one in parameter.items()}


def _weights(parameter: Parameter, step: int) -> dict[int, float | None]:
    return {number: one.weights[step] for number, one in parameter.items()}


def _differ(sums: Mapping[int, float | None], tolerance: float) -> bool:
    """Whether numbers of several ranks are not the same. One that is not there, or is NaN, does not tell."""
    known = list(_known(sums.values()))
    return len(known) == len(sums) and max(known) - min(known) > tolerance * max(map(abs, known))


def _known(sums: Iterable[float | None]) -> Iterator[float]:
    return (one for one in sums if one is not None and one == one)
