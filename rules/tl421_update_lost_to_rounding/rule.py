from collections.abc import Iterator

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding
from trainlint.rule import rule

_MOST = 2 / 3
"""Share of elements from which on too few move for training to go on as it would in float32: the first step of Adam is its
largest, and what that leaves as it was stays so."""
_ELEMENTS = 256


@rule(Recorded, level="warning", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    parameters = recorded.facts(ParameterSeen)
    for optimizer in recorded.facts(OptimizerSeen):
        at = optimizer.step_at or optimizer.at
        held = [one for one in parameters if optimizer.number in one.optimizers and one.lost is not None]
        moving = sum(one.moving for one in held)
        if at is None or moving < _ELEMENTS or not optimizer.type.startswith("torch.optim."):
            continue  # others may keep what is rounded away
        lost = sum((one.lost or 0.0) * one.moving for one in held) / moving
        if lost < _MOST:
            continue
        worst = max(held, key=lambda one: one.lost or 0.0)
        yield Finding(
            at,
            f"This step leaves {lost:.0%} of the weights that have a gradient bit-identical: their updates are smaller "
            f"than half of the distance to the next {worst.dtype} number, and rounding drops them at every step. Keep "
            "the parameters in float32 and use autocast, or raise the learning rate.",
            subject=worst.name,
            evidence={
                "share left as it was": lost,
                "elements compared": moving,
                "type": worst.dtype,
                "learning rate": max(optimizer.learning_rates, default=0.0),
            },
        )
