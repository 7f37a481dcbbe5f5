from collections.abc import Iterator

from trainlint.facts.ask.loaders import workers
from trainlint.facts.seen.loaders import LoaderSeen
from trainlint.finding import Finding
from trainlint.rule import rule

_SHARE = 0.3
"""Share of the time that counts as a stall."""
_SECONDS = 0.05
"""Seconds of waiting, over all batches, below which nobody notices it."""


@rule(LoaderSeen, level="info", by="T")
def check(seen: LoaderSeen) -> Iterator[Finding]:
    several = workers(seen.loader)
    # The first batch of worker processes waits for their start, and nothing was trained before it.
    waits = sorted(seen.waits[1:])
    works = sorted(seen.works)
    if not waits or not works or seen.loader.at is None:
        return
    wait, work = waits[len(waits) // 2], works[len(works) // 2]
    share = wait / (wait + work) if wait + work else 0.0
    if share < _SHARE or sum(waits) < _SECONDS:
        return
    advice = (
        "Set `num_workers`, so that worker processes load batches while the model trains."
        if several == 0
        else "Use more workers, or do less per sample: decode and resize once, in advance."
    )
    yield Finding(
        seen.loader.at,
        f"The program waits for this loader {share:.0%} of the time, and the model is idle. {advice}",
        evidence={
            "share of the time spent waiting": round(share, 2),
            "seconds of waiting for a batch": round(wait, 4),
            "seconds of work on a batch": round(work, 4),
            "batches": len(waits),
            "workers": several if several is not None else "unknown",
        },
    )
