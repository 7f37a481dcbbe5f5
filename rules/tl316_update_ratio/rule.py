from collections.abc import Iterator
from statistics import median_low

from trainlint.facts.model.events.modules import Built, ModuleChanged
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Finding
from trainlint.rule import rule

_TOO_LARGE = 3.0
"""Update/weight ratio from which on the weight is overwritten; Adam's first steps are up to about 1."""
_TOO_SMALL = 1e-7
"""About the smallest change that float32 can represent: 10,000 such steps are a thousandth of the weight."""
_LAYERS = (
    "torch.nn.Linear",
    "torch.nn.Bilinear",
    "torch.nn.Conv",
    "torch.nn.modules.linear",
    "torch.nn.modules.conv",
    "torch.nn.LSTM",
    "torch.nn.GRU",
    "torch.nn.RNN",
    "torch.nn.MultiheadAttention",
)
_ELEMENTS = 64


@rule(Recorded, level="warning", by="T")
def check(recorded: Recorded) -> Iterator[Finding]:
    parameters = recorded.facts(ParameterSeen)
    for optimizer in recorded.facts(OptimizerSeen):
        at = optimizer.step_at or optimizer.at
        weights = [one for one in parameters if optimizer.number in one.optimizers and _counts(one)]
        if at is None or len(weights) < 2 or optimizer.type.endswith("LBFGS"):
            continue
        typical = median_low([one.update or 0.0 for one in weights])
        most = max(weights, key=lambda one: one.update or 0.0)
        rates = sorted({one.rate or 0.0 for one in weights})
        evidence = {
            "update over weight, median": typical,
            "largest": most.update,
            "weights": len(weights),
            "learning rate": rates[-1],
        }
        if typical > _TOO_LARGE:
            yield Finding(
                at,
                f"One step changes a typical weight by {typical:.2g} times its own size, where about 0.001 "
                "is healthy: the weights are overwritten at every step. Lower the learning rate (now "
                f"{rates[-1]:.3g}).",
                subject=most.name,
                evidence=evidence,
            )
        elif (most.update or 0.0) < _TOO_SMALL and not _may_rise(recorded, optimizer, rates):
            yield Finding(
                at,
                f"One step changes no weight by more than {most.update or 0.0:.1g} of its size, where about "
                "0.001 is healthy: the model hardly changes in thousands of steps. Raise the learning rate "
                f"(now {rates[-1]:.3g}), or find out why gradients are so small.",
                subject=most.name,
                evidence=evidence,
            )


def _counts(one: ParameterSeen) -> bool:
    """Whether it is a weight matrix or kernel with a random start and a gradient."""
    elements = 1
    for size in one.shape:
        elements *= size
    return (
        one.module_type.startswith(_LAYERS)
        and len(one.shape) > 1
        and elements >= _ELEMENTS
        and one.update is not None
        and bool(one.rate)
        and one.dtype in ("float32", "float64")
        and one.start is not None
        and one.start.std > 0
        and one.gradient is not None
        and one.gradient.norm > 0
        and not one.gradient.non_finite
    )


def _may_rise(recorded: Recorded, optimizer: OptimizerSeen, rates: list[float]) -> bool:
    """Whether this is a warmup, or a model that has been trained before."""
    scheduled = any("lr_scheduler" in base for built in recorded.events(Built) for base in built.object.bases)
    changes = not set(rates) <= set(optimizer.learning_rates)
    return scheduled or changes or bool(recorded.events(ModuleChanged))
