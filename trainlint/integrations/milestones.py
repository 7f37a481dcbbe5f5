"""A recorded step of a long run, in a few numbers."""

from __future__ import annotations

import math

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.history import Milestone
from trainlint.facts.seen.losses import LossSeen
from trainlint.facts.seen.parameters import ParameterSeen


def milestone(run: Recorded, step: int) -> Milestone:
    """The numbers of a recording whose last step is `step`."""
    held = [one for one in run.facts(ParameterSeen) if one.gradient is not None]
    norms = {one.name: one.gradient.norm for one in held if one.gradient is not None}
    broken = [one.name for one in held if one.gradient is not None and one.gradient.non_finite]
    losses = [one.value for one in run.facts(LossSeen) if one.name == "backward()"]
    starts = [one.start for one in run.facts(ParameterSeen) if one.start is not None]
    sizes = [max(abs(one.smallest), abs(one.largest)) for one in starts]
    rates = [one.rate for one in run.facts(ParameterSeen) if one.rate is not None]
    return Milestone(
        step=step,
        loss=losses[-1] if losses else None,
        gradient=math.hypot(*norms.values()) if norms else None,
        non_finite=sum(one.gradient.non_finite for one in held if one.gradient is not None),
        weight=max(sizes, default=None),
        rate=max(rates, default=None),
        largest=broken[0] if broken else max(norms, key=lambda name: norms[name], default=""),
    )
