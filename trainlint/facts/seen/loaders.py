"""The loaders that a run went through."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.model.values import Object


@dataclass(frozen=True)
class LoaderSeen:
    """A loader that a run has gone through.

    Args:
        rounds: how often a loop over it began.
        waits: seconds that the program waited for each batch.
        works: seconds from each batch to the asking for the next in the same loop.
        samples: length of its dataset; None where that has none.
        workers: how many worker processes read a stream, each for itself; 0 for other datasets.
        repeated: how many batches of a stream were the same as one that another worker had just given.
    """

    loader: Object
    rounds: int
    waits: tuple[float, ...]
    works: tuple[float, ...]
    samples: int | None = None
    workers: int = 0
    repeated: int = 0
