"""What a recorded step has shown, as plain JSON."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from trainlint.finding import Place

if TYPE_CHECKING:
    from trainlint.facts.recorded import Recorded


def run_as_json(run: Recorded, not_checked: tuple[str, ...]) -> dict[str, Any]:
    from trainlint.facts import step

    kinds: dict[str, type[Any]] = {
        "parameters": step.ParameterSeen,
        "modules": step.ModuleSeen,
        "optimizers": step.OptimizerSeen,
        "masks": step.MaskSeen,
        "batches": step.BatchSeen,
        "scalers": step.ScalerSeen,
        "autocast": step.AutocastSeen,
        "probes": step.Probe,
        "pictures": step.Picture,
        "warnings": step.Warned,
        "failures": step.Failure,
        "disagreements": step.Disagreement,
    }
    return {
        "torch": run.torch,
        "arguments": list(run.argv),
        "ending": as_json(run.ending),
        "rank": as_json(run.rank),
        **{name: as_json(run.facts(kind)) for name, kind in kinds.items()},
        "not_checked": list(not_checked),
    }


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
