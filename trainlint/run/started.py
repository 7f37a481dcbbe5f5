"""The processes that a program has started itself, such as with `torch.multiprocessing.spawn`, as what is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.ranks import Rank
from trainlint.facts.trace_file import NotATrace, load


def those_that_train(
    program: Recorded | None, folder: Path
) -> tuple[Recorded | None, dict[int, Recorded | None]]:
    """The recording to report, and those beside it by the numbers of their ranks: those of the processes that train,
    unless the program itself does.

    Args:
        program: what was recorded of the program.
        folder: where its processes have left their recordings.
    """
    if program is not None and (program.ended.trained or program.ending.backwards):
        return program, {}
    found = [
        one for one in map(_loaded, sorted(folder.glob("child-*.trace"), key=_number)) if one is not None
    ]
    trained = [one for one in found if one.ended.trained or one.ending.backwards]
    if not trained:
        return program, {}
    are_ranks = len({one.rank.number for one in trained if one.rank.world > 1}) == len(trained) > 1
    if are_ranks:
        trained.sort(key=lambda one: one.rank.number)
    else:
        trained = [replace(one, rank=Rank(number)) for number, one in enumerate(trained)]
    first, *others = sorted(trained, key=lambda one: one.ended.how != "failed")
    return first, {one.rank.number: one for one in others}


def _number(file: Path) -> int:
    return int(file.stem.rpartition("-")[2])


def _loaded(file: Path) -> Recorded | None:
    try:
        return load(file)
    except (OSError, NotATrace):
        return None
