"""The regions of autocast that a run went through."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class AutocastSeen:
    """A region of autocast.

    Args:
        device: the device type that it was asked for.
        dtype: of what it casts to.
        models: device types of the parameters of the modules that were called in it.
    """

    at: Place
    device: str
    dtype: str
    enabled: bool
    models: tuple[str, ...] = ()
