"""How fast a run went, and what it held."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class Pace:
    """How fast a run went, while it was recorded, and what it held.

    Args:
        at: where the optimizer steps.
        seconds: from each of its steps to the next.
        memory: bytes after each backward: of tensors on CUDA, or all that the process has allocated where there are none.
        peak: the most bytes at any time, likewise; None where that cannot be seen.
        device: `cuda` or `cpu`: whose memory it is.
    """

    at: Place
    seconds: tuple[float, ...]
    memory: tuple[int, ...]
    peak: int | None
    device: str
