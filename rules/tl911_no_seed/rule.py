from collections.abc import Iterator

from trainlint.facts.api.torch_names import seeds
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="info", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    if training.entry != "program" or not training.events(OptimizerStep):
        return
    calls = training.events(Called)
    backward = next(iter(training.events(Backward)), None)
    if backward is not None and not any(seeds(one.name) for one in calls):
        yield Finding(
            backward.at,
            "This program trains without a seed, so each run has different initial weights and batches, and "
            "results are not reproducible. Call `torch.manual_seed(0)` first.",
        )
