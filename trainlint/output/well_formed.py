"""Text as any reader of UTF-8 accepts it."""

from __future__ import annotations

import re
from typing import Any

_HALF = re.compile("[\ud800-\udfff]")


def well_formed(thing: Any) -> Any:
    """JSON data whose strings hold no half of a surrogate pair: those, as in names of files that are not
    UTF-8, are written as escapes."""
    if isinstance(thing, str):
        return _HALF.sub(lambda half: ascii(half[0])[1:-1], thing)
    if isinstance(thing, dict):
        return {well_formed(key): well_formed(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [well_formed(one) for one in thing]
    return thing
