"""What depends on the process that runs it."""

from __future__ import annotations

import re

from trainlint.facts.model.values import Constant, Op, Unknown, Value

_RANK = re.compile(
    r"(^|_|\b)(rank|world_?size|process_index|num_processes|num_replicas|shard)s?(_|\b|$)", re.IGNORECASE
)


def speaks_of_rank(value: Value) -> bool:
    """Whether a value is, by its name, the number of the process, or of all processes, or made for one of them."""
    match value:
        case Unknown():
            return _RANK.search(value.text) is not None
        case Op():
            name = value.options.get("name")
            asked = name.value if isinstance(name, Constant) and isinstance(name.value, str) else ""
            return _RANK.search(value.name) is not None or _RANK.search(asked) is not None
        case Constant(value=str(text)):
            return text in ("RANK", "LOCAL_RANK", "WORLD_SIZE")
    return False
