"""Which torch can be recorded. Looks at its version alone, so that one of any age can be asked."""

from __future__ import annotations

import torch

OLDEST = (2, 4)


class TooOld(Exception):
    """A torch that cannot be recorded."""


def require_torch() -> None:
    """Raises TooOld."""
    major, minor = torch.__version__.split(".")[:2]
    if (int(major), int(minor)) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise TooOld(f"torch {torch.__version__} is too old to be recorded: {oldest} or later is needed")
