"""Source files to findings: what must be read is read, what belongs together is evaluated together.

Files that import each other, directly or not, form a group; groups share nothing, so each is evaluated
on its own, in any process. What its entry points have led to is kept until a file changes that they have used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainlint.finding import Finding, Problem
from trainlint.program.incremental.cache import Cache, Checked
from trainlint.program.incremental.shards import Shard
from trainlint.project.absent import still_absent
from trainlint.project.target import Target
from trainlint.reached import Reached

_concerns_the_newest = Target().concerns


@dataclass(frozen=True)
class Source:
    """One file to check: its path as the user sees it, and its bytes where they do not come from disk."""

    path: str
    text: bytes | None = None


@dataclass(frozen=True)
class Analysis:
    """What every rule found that matters to the project, sorted by place and not yet selected or suppressed, and what
    could not be checked."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    files: int
    limited: tuple[Reached, ...] = ()
    """Limits that were reached, and what was therefore not judged."""
    imported: tuple[Finding, ...] = ()
    """What was found that has to do with none of the files, but lies in files that they import."""
    entry_points: int = 0
    """How many bodies of files and functions were entered on their own."""
    not_here: frozenset[str] = frozenset()
    """Files that another part of the check judges."""


def analyse(
    sources: Sequence[Source],
    *,
    callers: Sequence[str] = (),
    jobs: int | None = None,
    cache_dir: Path | None = None,
    cache: Cache | None = None,
    concerns: Callable[[Finding], bool] = _concerns_the_newest,
    progress: Callable[[int, int], None] | None = None,
    shard: Shard | None = None,
    enters_imported: bool = True,
) -> Analysis:
    """Check files as one program; modules of it that they import are read too.

    Args:
        callers: files that import some of them, and are read with them.
        jobs: processes to use; None for as many as there are cores, or one where that is not slower.
        cache_dir: where facts and findings are kept between runs; None to keep nothing.
        cache: what keeps them instead.
        concerns: whether a finding matters for the versions of torch that its file is for; without it, the newest.
        progress: called with the number of steps that are done, and of all.
        shard: the part that is judged now; None for all.
        enters_imported: whether classes and functions are entered that only imported files have, and that nothing calls.
            Without them, `imported` lacks what is found there; such a check takes one process and a cache of its own.
    """
    from trainlint.project.bytes_on_disk import Contents

    contents = Contents({source.path: source.text for source in sources if source.text is not None})
    paths = sorted({source.path for source in sources})
    cache = cache or Cache(cache_dir)
    beside = sorted({*callers}.difference(paths))
    part = "" if shard is None else shard.name
    whole = cache.key([*contents.fingerprints(paths), ("", part), *contents.fingerprints(beside)])
    kept = cache.load_findings("programs", whole)
    if kept is not None and contents.unchanged(kept.also_read) and still_absent(kept.absent):
        return _mattering(kept, len(paths), concerns)

    from trainlint.program.incremental.groups import check_program

    checked = check_program(paths, contents, cache, jobs, progress, beside, shard, enters_imported)
    cache.save_findings("programs", whole, checked)
    return _mattering(checked, len(paths), concerns)


def _mattering(checked: Checked, files: int, concerns: Callable[[Finding], bool]) -> Analysis:
    return Analysis(
        tuple(filter(concerns, checked.findings)),
        checked.problems,
        files,
        checked.limited,
        tuple(filter(concerns, checked.imported)),
        checked.entry_points,
        frozenset(checked.not_here),
    )
