"""When things happened in a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """Something that took time.

    Args:
        kind: `data` (waiting for a batch), `forward`, `backward` or `step`.
        name: path of the module for a forward, and for a backward of one module; class of the loader or the optimizer.
        begin: seconds since the recording began.
        end: likewise. Times are of the processor that runs the program: a device may still be busy then.
        step: the step that it belongs to, from 1.
        depth: for a forward, how many modules are around it; for a backward, 0 for the whole and 1 for a module.
    """

    kind: str
    name: str
    begin: float
    end: float
    step: int
    depth: int = 0
