"""What a recorded step has shown, as plain JSON."""

from __future__ import annotations

from typing import Any

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.autocast import AutocastSeen
from trainlint.facts.seen.batches import BatchSeen
from trainlint.facts.seen.endings import NotWritten
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


def run_as_json(run: Recorded, not_checked: tuple[str, ...]) -> dict[str, Any]:
    kinds: dict[str, type[Any]] = {
        "parameters": ParameterSeen,
        "modules": ModuleSeen,
        "optimizers": OptimizerSeen,
        "not_written": NotWritten,
        "losses": LossSeen,
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
    return {
        "torch": run.torch,
        "arguments": list(run.argv),
        "ending": as_json(run.ending),
        "rank": as_json(run.rank),
        **{name: as_json(run.facts(kind)) for name, kind in kinds.items()},
        "not_checked": list(not_checked),
    }
