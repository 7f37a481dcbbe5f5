"""A run becomes facts: the only room that imports torch.

from trainlint.trace import record

with record() as trace:
    loss = criterion(model(inputs), targets)
    loss.backward()
    optimizer.step()
trace.report()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainlint.trace.launch.recording import StepReport, record

__all__ = ["StepReport", "record"]


def __getattr__(name: str) -> Any:
    """What people import from here comes with torch, which the launcher of traced programs must not bring along."""
    if name in __all__:
        from trainlint.trace.launch import recording

        return getattr(recording, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
