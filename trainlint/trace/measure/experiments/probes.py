"""From what an experiment has shown to a fact."""

from __future__ import annotations

import re

import torch

from trainlint.facts.seen.probes import Probe
from trainlint.trace.measure.experiments.compared import Compared
from trainlint.trace.measure.experiments.given import Given
from trainlint.trace.watch.recorder import Recorder

_ON_PURPOSE = re.compile(
    r"mini_?batch|batch_?(std|disc|norm)|std_?dev|intersample|mo_?e|expert|router|quant", re.IGNORECASE
)
"""Names of classes that mix samples because they are meant to."""


def probe(
    recorder: Recorder, kind: str, given: Given, found: Compared, path: str | None, *, shifted: bool = False
) -> Probe:
    modules = dict(given.model.named_modules())
    module = modules.get(path) if path is not None and found.leaked else None
    suspects = [module] if module is not None else list(modules.values())
    return Probe(
        kind=kind,
        at=given.at,
        model=recorder.objects.of(given.model).type,
        leaked=found.leaked,
        change=found.change,
        scale=found.scale,
        shifted=shifted,
        normalises=any(map(_mixes_on_purpose, suspects)),
        module=path or "" if module is not None else "",
        module_type=recorder.objects.of(module).type if module is not None else "",
        module_at=recorder.objects.of(module).at if module is not None else None,
    )


def _mixes_on_purpose(module: torch.nn.Module) -> bool:
    if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
        return not module.track_running_stats or module.running_mean is None
    is_own = not type(module).__module__.startswith("torch.")
    return is_own and _ON_PURPOSE.search(type(module).__name__) is not None
