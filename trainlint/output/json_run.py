"""What a recorded step has shown, as plain JSON."""

from __future__ import annotations

from typing import Any

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.autocast import AutocastSeen
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.endings import NotWritten
from trainlint.facts.seen.history import Milestone
from trainlint.facts.seen.losses import LossSeen
from trainlint.facts.seen.masks import MaskSeen
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.facts.seen.pictures import Picture
from trainlint.facts.seen.probes import Probe
from trainlint.facts.seen.raised import Failure, Warned
from trainlint.facts.seen.ranks import Disagreement
from trainlint.facts.seen.scalers import ScalerSeen
from trainlint.facts.seen.tried import Tried
from trainlint.output.as_json import as_json

KINDS: dict[str, type[Any]] = {
    "parameters": ParameterSeen,
    "modules": ModuleSeen,
    "optimizers": OptimizerSeen,
    "not_written": NotWritten,
    "losses": LossSeen,
    "history": Milestone,
    "masks": MaskSeen,
    "batches": BatchSeen,
    "scalers": ScalerSeen,
    "autocast": AutocastSeen,
    "probes": Probe,
    "tried": Tried,
    "pictures": Picture,
    "warnings": Warned,
    "failures": Failure,
    "disagreements": Disagreement,
}
"""Facts of a run, by the names under which they are written."""


def run_as_json(run: Recorded, not_checked: tuple[str, ...]) -> dict[str, Any]:
    """The first phase; under `later` those after it, of the same shape."""
    return {
        **_phase(run),
        "later": [*map(_phase, run.later)],
        "not_checked": list(not_checked),
    }


def _phase(run: Recorded) -> dict[str, Any]:
    return {
        "torch": run.torch,
        "arguments": list(run.argv),
        "ending": as_json(run.ending),
        "rank": as_json(run.rank),
        **{name: as_json(run.facts(kind)) for name, kind in KINDS.items()},
    }
