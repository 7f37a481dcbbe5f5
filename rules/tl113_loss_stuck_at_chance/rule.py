import math
from collections.abc import Iterator

from trainlint.facts.ask.evidence import numbers_of, shape_of
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.values import Constant, constant
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding
from trainlint.rule import rule

OVER_CLASSES = ("cross_entropy", "nll_loss")
STEPS = 20
FEWEST_CLASSES = 3
CLOSE = 0.02
"""Share of the loss of guessing by which a loss may differ from it."""
UNIFORM = 0.2
"""How far apart all scores may lie: no class is 1.25 times as likely as another."""
LEAST_RATE = 1e-5
WARMING = 1.5


@rule(Recorded, level="error", by="T", steps=STEPS)
def check(run: Recorded) -> Iterator[Finding]:
    rate = _steady_rate(run)
    losses = [one for one in run.events(LossCall) if one.output.attached and one.function != "log_softmax"]
    if rate is None or len({one.at for one in losses}) != 1 or not all(map(_is_at_chance, losses)):
        return
    last, backwards = losses[-1], run.events(Backward)
    if not backwards or not is_made_of(backwards[-1].loss, last.output, with_graph=True):
        return
    value, given = numbers_of(last.output), numbers_of(last.input)
    classes, steps = int(value["classes"]), _steps(run.facts(OptimizerSeen)[0])
    gradients = [one.gradient.norm for one in run.facts(ParameterSeen) if one.gradient is not None]
    yield Finding(
        last.at,
        f"After {steps} steps the loss is {value['value']:.3g}, which is what guessing among {classes} "
        "classes gives, and the model still predicts all classes as equally likely: it has learned nothing "
        "from its inputs. Check the operations between the last layer and the loss, gradients close to 0, "
        "and whether inputs match their labels.",
        evidence={
            "steps": steps,
            "loss of the latest steps": f"{_lowest(losses):.4g} to {_highest(losses):.4g}",
            "loss of guessing": math.log(classes),
            "smallest score": given["smallest"],
            "largest score": given["largest"],
            "learning rate": rate,
            "largest gradient norm of a parameter": max(gradients, default=0.0),
        },
    )


def _steady_rate(run: Recorded) -> float | None:
    """The learning rate of the only optimizer; None if it has stepped too little, or is still in its warmup."""
    optimizers = run.facts(OptimizerSeen)
    if len(optimizers) != 1 or _steps(optimizers[0]) < STEPS or not optimizers[0].learning_rates:
        return None
    rate = max(optimizers[0].learning_rates)
    first = max((one.rate for one in run.facts(ParameterSeen) if one.rate is not None), default=0.0)
    return rate if first >= LEAST_RATE and rate <= WARMING * first else None


def _steps(optimizer: OptimizerSeen) -> int:
    return optimizer.before + optimizer.steps


def _is_at_chance(loss: LossCall) -> bool:
    """Whether a loss is that of guessing, from nearly equal scores, on labels that differ."""
    value, given, shape = numbers_of(loss.output), numbers_of(loss.input), shape_of(loss.input)
    classes = int(value.get("classes", 0))
    if (
        loss.function not in OVER_CLASSES
        or classes < FEWEST_CLASSES
        or "smallest" not in given
        or shape is None
    ):
        return False
    if len(shape) == 2 and shape[0] == shape[1]:
        return False  # each sample against all others
    weighs = loss.setting("weight", None)
    plain = isinstance(weighs, Constant) and weighs.value is None
    return (
        plain
        and constant(loss.setting("reduction", "mean")) == "mean"
        and value.get("distinct targets", 0) > 1
        and abs(value["value"] / math.log(classes) - 1) < CLOSE
        and given["largest"] - given["smallest"] < UNIFORM
    )


def _lowest(losses: list[LossCall]) -> float:
    return min(numbers_of(one.output)["value"] for one in losses)


def _highest(losses: list[LossCall]) -> float:
    return max(numbers_of(one.output)["value"] for one in losses)
