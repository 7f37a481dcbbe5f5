"""Facts, places and numbers as plain JSON."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

from trainlint.finding import Place


def as_json(thing: Any) -> Any:
    """Data of facts as JSON knows it; numbers that JSON has no word for become strings."""
    if isinstance(thing, Place):
        return {"path": thing.path, "line": thing.line, "column": thing.column}
    if is_dataclass(thing):
        return {field.name: as_json(getattr(thing, field.name)) for field in fields(thing)}
    if isinstance(thing, dict):
        return {str(key): as_json(one) for key, one in thing.items()}
    if isinstance(thing, (list, tuple, set, frozenset)):
        return [as_json(one) for one in thing]
    if isinstance(thing, float) and not math.isfinite(thing):
        return str(thing)
    return thing
