from collections.abc import Iterator, Sequence

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.freezing import may_be_frozen
from trainlint.facts.ask.holding import held_in
from trainlint.facts.ask.measuring import only_measures
from trainlint.facts.ask.precision import dtype_of
from trainlint.facts.model.events.modules import Converted
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives
from trainlint.facts.seen.parameters import ParameterSeen
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding]:
    if all(dtype_of(one.dtype) != "float16" for one in training.events(Converted)) or only_measures(training):
        return
    said: set[int] = set()
    for run in training.runs(Converted, Backward, OptimizerStep):
        latest: dict[int, Converted] = {}
        for event in run:
            if isinstance(event, Converted):
                for module in alternatives(event.module):
                    latest |= dict.fromkeys(held_in(module), event)
            elif isinstance(event, OptimizerStep) and any(isinstance(one, Backward) for one in run):
                half = _half_weights(event, latest)
                if half is not None and id(half) not in said and not _is_frozen(training, event):
                    said.add(id(half))
                    yield _found(training, half, event)


def _half_weights(step: OptimizerStep, latest: dict[int, Converted]) -> Converted | None:
    """The conversion to float16 of all weights that one of torch's optimizers steps."""
    optimizers = [one for one in alternatives(step.optimizer) if isinstance(one, Object)]
    if not optimizers or not all(one.type.startswith("torch.optim.") for one in optimizers):
        return None
    modules = list(_modules(step))
    conversions = [latest.get(one.uid) for one in modules]
    if not conversions or any(one is None or dtype_of(one.dtype) != "float16" for one in conversions):
        return None
    return conversions[0]


def _is_frozen(training: Training, step: OptimizerStep) -> bool:
    return any(may_be_frozen(training, one) for one in _modules(step) if isinstance(one, Object))


def _modules(step: OptimizerStep) -> Iterator[Value]:
    """The modules whose own parameters, and not copies of them, an optimizer holds."""
    given = [held for one in alternatives(step.optimizer) if isinstance(one, Object) for held in _given(one)]
    for one in reached(given, _inner):
        if isinstance(one, Op) and one.name == "parameters":
            yield from (module for held in one.inputs[:1] for module in alternatives(held))


def _inner(value: Value) -> Sequence[Value]:
    is_kept = not isinstance(value, Op) or value.name in ("filter", "iterate", "items")
    return value.parts() if is_kept else ()


def _given(optimizer: Object) -> list[Value]:
    held = optimizer.argument(0, "params")
    return [held] if held is not None else []


def _found(training: Training, half: Converted, step: OptimizerStep) -> Finding:
    weights = [one for one in training.facts(ParameterSeen) if one.dtype == "float16" and one.optimizers]
    return Finding(
        half.at,
        f"These weights are float16, and `{training.name_of(step)}` steps them: an update of less than "
        "1/2000 of a weight is rounded away, and Adam's `eps` of 1e-8 becomes 0, so it may divide by 0. Keep "
        "the weights in float32, and use `torch.autocast` with a `GradScaler`.",
        (Because(step.at, "the optimizer steps float16 weights here"),),
        evidence={"float16 parameters": len(weights)} if weights else {},
    )
