from collections.abc import Iterator

from trainlint.facts.model.events.frameworks import StepMethod
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Op, ways
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="warning", by="S")
def check(training: Training) -> Iterator[Finding]:
    for method in training.events(StepMethod):
        losses = training.inside(method.loops[-1], LossCall)
        if method.automatic is not True or method.name != "training_step":
            continue
        results = [one for _, one in ways(method.returns)]
        nothing = [one for one in results if isinstance(one, Constant) and one.value is None]
        if not nothing or any(one.at is not None for one in nothing):
            continue  # a plain `return None` is the documented way to leave a batch out
        if _chooses_among_cases(method):
            continue
        if len(nothing) == len(results):
            if not losses:
                continue
            yield Finding(
                losses[0].at,
                "The loss is computed and not returned, so the framework skips every batch after one warning: the model "
                "is never trained. End `training_step` with `return loss`.",
                level="error",
            )
            continue
        loss = next((one for one in results if isinstance(one, Op) and one.at is not None), None)
        if loss is not None and loss.at is not None:
            yield Finding(
                method.at,
                "On some path `training_step` ends without `return`, and the framework skips such batches after one "
                "warning. Return a loss on every path, or `return None` where batches are left out on purpose.",
                (Because(loss.at, "the loss is returned on another path"),),
            )


def _chooses_among_cases(method: StepMethod) -> bool:
    """Whether a loss is returned for each of several values of one thing, such as `optimizer_idx`: there may be no others."""
    compared = [
        {
            condition[1]
            for condition, outcome in guards
            if outcome and isinstance(condition, tuple) and condition[:1] == ("==",)
        }
        for guards, one in ways(method.returns)
        if not isinstance(one, Constant)
    ]
    return len(compared) > 1 and bool(set.intersection(*compared))
