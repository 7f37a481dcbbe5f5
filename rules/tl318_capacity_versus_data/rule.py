import math
from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER
from trainlint.facts.ask.evidence import numbers_of
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.modules import Built, ModeChange
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.loaders import LoaderSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding
from trainlint.rule import rule

PER_SAMPLE = 100
"""Parameters for each sample, from which on it is easy to memorise them."""
EPOCHS = 3
ZERO = 0.01
LATEST = 3
"""How many losses have to be at zero."""
OVER_CLASSES = frozenset(
    "cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits".split()
)


@rule(Recorded, level="warning", by="T", steps=40)
def check(run: Recorded) -> Iterator[Finding]:
    loaders = run.facts(LoaderSeen)
    if len(loaders) != 1 or _looks_at_other_data(run):
        return
    loader, losses = loaders[0], _last_losses(run)
    batches = len(loader.waits) / max(loader.rounds, 1)
    if loader.loader.at is None or not loader.samples or loader.rounds < EPOCHS or batches <= 1:
        return
    parameters = sum(
        math.prod(one.shape) for one in run.facts(ParameterSeen) if one.trainable and one.stepped
    )
    if losses and max(losses) < ZERO and parameters >= PER_SAMPLE * loader.samples:
        yield Finding(
            loader.loader.at,
            f"{parameters:,} parameters have memorised these {loader.samples:,} samples: the loss is at "
            "zero, and nothing was evaluated on other data. Hold out a validation set, and evaluate on it "
            "after each epoch.",
            evidence={
                "parameters for each sample": round(parameters / loader.samples),
                "epochs": loader.rounds,
                "highest of the last losses": max(losses),
            },
        )


def _looks_at_other_data(run: Recorded) -> bool:
    """Whether the program has a second loader, or has evaluated anything."""
    return (
        sum(one.object.is_a(LOADER) for one in run.events(Built)) > 1
        or any(one.records is False or one.mode is False for one in run.events(Forward))
        or any(one.training is False for one in run.events(ModeChange))
    )


def _last_losses(run: Recorded) -> list[float]:
    """The latest classification losses with a backward; none if there are other losses."""
    calls = [one for one in run.events(LossCall) if one.function in OVER_CLASSES]
    found = []
    for backward in run.events(Backward)[-LATEST:]:
        values = [
            numbers_of(one.output).get("value") for one in calls if is_made_of(backward.loss, one.output)
        ]
        if not values or any(one is None for one in values):
            return []
        found.append(max(one for one in values if one is not None))
    return found
