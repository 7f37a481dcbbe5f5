"""All patterns, by name."""

from __future__ import annotations

from . import (  # noqa: F401
    branches,
    calls,
    classes,
    containers,
    loops,
    masks,
    mixed_precision,
    models,
    numbers,
    several_files,
    tensors,
    training,
)
from .program import PATTERNS

__all__ = ["PATTERNS"]
