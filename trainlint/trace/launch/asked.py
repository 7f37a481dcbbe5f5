"""What is asked of a recording, as it is handed from process to process. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """What to record, and where the program is.

    Args:
        root: a folder whose files are the program's own even where it lies among libraries.
        folder: the working directory that the program was started in.

    The others are those of `Recorder`, and the probes to be made afterwards.
    """

    folder: str
    root: str | None = None
    steps: int = 1
    max_wait: int = 100
    skip_steps: int = 0
    phase: int | None = 1
    phase_seconds: float = 0.0
    probes: tuple[str, ...] = ()
    probe_seconds: float = 10.0
