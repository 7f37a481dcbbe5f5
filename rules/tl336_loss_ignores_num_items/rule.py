from collections.abc import Iterator

from trainlint.facts.api.frameworks import takes_number_of_items
from trainlint.facts.ask.loaders import type_of
from trainlint.facts.ask.means import is_whole_mean
from trainlint.facts.model.events.frameworks import StepMethod
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Items, Op, Value, alternatives, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_STEPS = "gradient_accumulation_steps"
_OPENLY = frozenset(("num_items_in_batch", "loss_is_scaled_for_ga", "model_accepts_loss_kwargs", _STEPS))
"""Names by which a class takes the division into its own hands."""


@rule(Training, level="error", by="S")
def check(training: Training) -> Iterator[Finding]:
    for method in training.events(StepMethod):
        trainer = method.receiver
        settings = trainer.argument(1, "args")
        number = constant(settings.option(99, _STEPS)) if isinstance(settings, Op) else None
        models = list(alternatives(trainer.argument(0, "model")))
        if (
            not isinstance(number, int)
            or number < 2
            or method.names & _OPENLY
            or not models
            or not all(takes_number_of_items(type_of(one)) for one in models)
        ):
            continue
        loss = _mean(training, method.returns)
        if loss is not None:
            yield Finding(
                loss.at,
                f"This loss is the mean of one batch, and the trainer sums {number} of them for a step: it leaves the "
                "division to losses of models that take `num_items_in_batch`, so loss and gradients are "
                f"{number} times too large. Sum the loss and divide it by `num_items_in_batch`.",
                (Because(trainer.at, f"a step is made of {number} batches here"),)
                if trainer.at is not None
                else (),
            )


def _mean(training: Training, returns: Value) -> LossCall | None:
    """The loss of a batch that is returned, where it certainly is a mean."""
    for one in alternatives(returns):
        first = one.items[0] if isinstance(one, Items) and one.items else one
        if not isinstance(first, Constant) and is_whole_mean(training, first):
            inside = (call for call in training.events(LossCall) if call.function != "log_softmax")
            return next(inside, None)
    return None
