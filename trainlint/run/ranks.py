"""Processes that train together under `torchrun`: each hands in its recording, and the first reports for all."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Op
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.pace import Pace
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.ranks import Disagreement, Rank, RankSeen
from trainlint.facts.trace_file import NotATrace, dumped, load
from trainlint.finding import Place
from trainlint.judging import Judged
from trainlint.run.drift import drifts

_PATIENCE = 60.0
"""Seconds that the first process waits for the recordings of the others."""

_POLL = 0.1


def world() -> Rank | None:
    """Where this process stands among those that `torchrun` has started on this machine; None if it is alone."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return None
    size = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    return Rank(int(os.environ.get("LOCAL_RANK", "0")), size) if size > 1 else None


def hand_in(recorded: Recorded | None, rank: Rank) -> None:
    """Leave a recording where the first process finds it."""
    folder = _folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / f"{rank.number}.trace"
    temporary = file.with_suffix(".part")
    temporary.write_text(dumped(recorded) if recorded is not None else "", encoding="utf-8")
    temporary.replace(file)


def collected(rank: Rank) -> dict[int, Recorded | None]:
    """The recordings of the other processes; None for those that have none, or do not hand it in in time."""
    found: dict[int, Recorded | None] = {}
    until = time.monotonic() + _PATIENCE
    for number in range(rank.world):
        if number == rank.number:
            continue
        file = _folder() / f"{number}.trace"
        while not file.exists() and time.monotonic() < until:
            time.sleep(_POLL)
        try:
            found[number] = load(file)
        except (OSError, NotATrace):
            found[number] = None
    shutil.rmtree(_folder(), ignore_errors=True)
    return found


def _folder() -> Path:
    """One for each start of the processes: `torchrun` is the parent of all, and may start them again."""
    start = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    return Path(tempfile.gettempdir(), f"trainlint-torchrun-{os.getuid()}-{os.getppid()}-{start}")


def compared(
    first: Recorded, others: dict[int, Recorded | None]
) -> tuple[Recorded, dict[int, Recorded | None]]:
    """The recordings, with what they do not have in common, if the processes train one model together."""
    if first.rank.world == 1:
        return first, others
    runs = {first.rank.number: first, **{number: one for number, one in others.items() if one is not None}}
    missing = sorted(number for number, one in others.items() if one is None)
    found = [*_gradients(runs), *_calls(runs), *_losses(runs), *_batches(runs), *drifts(runs)]
    if missing:
        left = dict.fromkeys(missing, "nothing")
        found.append(Disagreement(None, "what was recorded", ranks=left))
    summaries = [_summary(number, run) for number, run in runs.items()] if len(runs) > 1 else []
    beside = {
        number: replace(one, seen=(*one.seen, *found)) if one is not None else None
        for number, one in others.items()
    }
    return replace(first, seen=(*first.seen, *found, *summaries)), beside


def united(judged: Mapping[int, Judged], *, are_ranks: bool = True) -> Judged:
    """What the rules say of all ranks. Where there are several, the evidence names all that something was found on, and
    what is open on one of them is open.

    Args:
        are_ranks: whether they train together, and are not only processes of one program.
    """
    said_as = "on ranks" if are_ranks else "in processes"
    if len(judged) == 1:
        return next(iter(judged.values()))
    ranks: dict[tuple[str, Place, str | None], set[int]] = {}
    for number, said in judged.items():
        for one in said.findings:
            ranks.setdefault((one.code, one.at, one.subject), set()).add(number)
    found = (
        replace(one, evidence={**one.evidence, said_as: sorted(ranks[one.code, one.at, one.subject])})
        for said in judged.values()
        for one in said.findings
    )
    openings = dict.fromkeys(one for said in judged.values() for one in said.openings)
    unfinished = frozenset().union(*(said.unfinished for said in judged.values()))
    return Judged(tuple(found), tuple(openings), unfinished)


def _summary(number: int, run: Recorded) -> RankSeen:
    losses = [one.loss.seen for one in run.events(Backward) if isinstance(one.loss, Op)]
    values = [one.numbers["value"] for one in losses if one is not None and "value" in one.numbers]
    norms = [one.gradient.norm for one in run.facts(ParameterSeen) if one.gradient is not None]
    batch = next((one.shape for one in run.facts(BatchSeen) if one.role == "input"), ())
    took = next((one.seconds[-1] for one in run.facts(Pace) if one.seconds), None)
    whole = sum(norm * norm for norm in norms) ** 0.5 if norms else None
    return RankSeen(number, run.ending.steps, values[-1] if values else None, whole, batch, took)


def _gradients(runs: dict[int, Recorded]) -> Iterator[Disagreement]:
    """Parameters that have a gradient on some ranks only."""
    by_name: dict[str, dict[int, ParameterSeen]] = {}
    for number, run in runs.items():
        for one in run.facts(ParameterSeen):
            by_name.setdefault(one.name, {})[number] = one
    for name, held in by_name.items():
        has = {number: one.gradient is not None for number, one in held.items() if one.trainable}
        if len(set(has.values())) > 1:
            said = {number: "a gradient" if one else "no gradient" for number, one in has.items()}
            yield Disagreement(next(iter(held.values())).at, "gradients", name, said)


def _calls(runs: dict[int, Recorded]) -> Iterator[Disagreement]:
    """Modules with parameters that are called on some ranks only."""
    by_path: dict[str, dict[int, ModuleSeen]] = {}
    for number, run in runs.items():
        for one in run.facts(ModuleSeen):
            if one.parameters:
                by_path.setdefault(one.path, {})[number] = one
    for path, held in by_path.items():
        called = {number: one.order is not None for number, one in held.items()}
        if len(set(called.values())) > 1:
            said = {number: "called" if one else "not called" for number, one in called.items()}
            yield Disagreement(next(iter(held.values())).at, "calls of modules", path, said)


def _losses(runs: dict[int, Recorded]) -> Iterator[Disagreement]:
    """Losses that are computed in another order."""
    orders = {
        number: tuple(dict.fromkeys((one.name, one.at.line) for one in run.events(LossCall)))
        for number, run in runs.items()
    }
    if len(set(orders.values())) > 1:
        said = {
            number: ", ".join(f"{name} (line {line})" for name, line in one) for number, one in orders.items()
        }
        at = next((one.at for run in runs.values() for one in run.events(LossCall)), None)
        yield Disagreement(at, "the order of losses", ranks=said)


def _batches(runs: dict[int, Recorded]) -> Iterator[Disagreement]:
    """Inputs and targets of another shape."""
    shapes: dict[tuple[object, str, str], dict[int, BatchSeen]] = {}
    for number, run in runs.items():
        for one in run.facts(BatchSeen):
            shapes.setdefault((one.at, one.role, one.name), {}).setdefault(number, one)
    for (_, role, name), held in shapes.items():
        if len({one.shape for one in held.values()}) > 1:
            said = {number: str(list(one.shape)) for number, one in held.items()}
            yield Disagreement(next(iter(held.values())).at, "batch shapes", f"{role} {name}", said)
