from collections import Counter
from collections.abc import Iterator, Sequence

from trainlint.facts.api.classes import SOME_OPTIMIZER
from trainlint.facts.ask.contents import leaves
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.interference import may_touch_anything
from trainlint.facts.ask.means import is_mean_of_labels, is_whole_mean
from trainlint.facts.ask.stepped import modules_held, same_parameters
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, Clip, OptimizerStep, ZeroGrad
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives
from trainlint.finding import Because, Finding, Open, not_shown_by_runs
from trainlint.rule import rule

from .counters import every_so_often
from .inner_loops import accumulated_inside
from .shown import divided_to_be_shown, divides_by_size


@rule(Training, level="warning")
def check(training: Training) -> Iterator[Finding | Open]:
    if any(one.is_a("accelerate.Accelerator", "deepspeed.DeepSpeedEngine") for one in training.objects):
        return
    if not isinstance(training, Recorded):
        yield from not_shown_by_runs(divided_to_be_shown(training))
    if not training.events(OptimizerStep):
        yield from (Open(one.at, "how often it runs for one step") for one in training.events(Backward))
    for backward, step, times in _accumulated(training):
        if times and step.scaler is not None:
            yield Open(backward.at, "what the scaler leaves of these gradients")
            continue
        optimizer = next(alternatives(step.optimizer), None)
        doubt = _doubt(backward, step)
        clip = next(iter(training.around(step.loops, Clip)), None)
        if (
            not isinstance(optimizer, Object)
            or (divides_by_size(optimizer) and clip is None)
            or any(one.target is not backward.loss for one in training.around(step.loops, ParametersRead))
            or may_touch_anything(training, step.loops)
            or not _is_of(training, backward, step)
            or not all(
                is_whole_mean(training, one.loss) or is_mean_of_labels(one.loss)
                for one in training.around(step.loops, Backward)
                if one.at == backward.at
            )
        ):
            continue
        effect = (
            "the clipping threshold is too strict by the same factor"
            if clip is not None
            else "the step is too large by the same factor"
        )
        evidence = {"backward passes for one step": times} if times else {}
        shown = training.around(step.loops, ParametersRead)
        yield Finding(
            backward.at,
            "Gradients of several batches accumulate here, each of a mean over its batch, so their sum is "
            f"too large by the number of batches: {effect}. Divide the loss by the number of accumulation "
            "steps.",
            (
                Because(step.at, "the optimizer only steps here"),
                *(Because(one.at, "this changes the number alone, not its gradient") for one in shown[:1]),
            ),
            evidence=evidence,
            confidence="likely" if doubt else None,
            doubt=doubt,
            is_shown_by_runs=backward.loops == step.loops,
        )


def _accumulated(training: Training) -> Iterator[tuple[Backward, OptimizerStep, int]]:
    """Backward passes that run several times per step, the step, and how often, if known."""
    if isinstance(training, Recorded):
        yield from _seen_accumulated(training)
        return
    yield from ((backward, step, 0) for backward, step in accumulated_inside(training))
    for step in training.events(OptimizerStep):
        every = every_so_often(training, step)
        if not step.loops or not every:
            continue
        clears = [
            one
            for one in training.inside(step.loops[-1], ZeroGrad)
            if same_parameters(one.target, step.optimizer)
        ]
        events = training.events(Event)
        if not clears or any(
            every_so_often(training, one) != every or events.index(one) < events.index(step) for one in clears
        ):
            continue
        for backward in training.inside(step.loops[-1], Backward):
            is_more_often = not set(every) <= set(backward.guards)
            if backward.accumulates and backward.loops == step.loops and is_more_often:
                yield backward, step, 0


def _seen_accumulated(run: Recorded) -> Iterator[tuple[Backward, OptimizerStep, int]]:
    events = run.events(Event)
    done: set[object] = set()
    for position, step in enumerate(events):
        if not isinstance(step, OptimizerStep):
            continue
        passes = list(_passes(events[:position], step))
        counts = Counter((one.at, one.calls) for one in passes)
        for backward in passes:
            times = counts[backward.at, backward.calls]
            if step.loops and times > 1 and backward.loops == step.loops and backward.at not in done:
                done.add(backward.at)
                yield backward, step, times


def _passes(before: Sequence[Event], step: OptimizerStep) -> Iterator[Backward]:
    """The backward passes since the gradients of an optimizer were last cleared or used."""
    for event in reversed(before):
        if isinstance(event, Backward):
            yield event
        elif (isinstance(event, OptimizerStep) and event.optimizer is step.optimizer) or (
            isinstance(event, ZeroGrad) and same_parameters(event.target, step.optimizer)
        ):
            return


def _is_of(training: Training, backward: Backward, step: OptimizerStep) -> bool:
    """Whether a loss comes from a model that the optimizer holds, or from the one whose gradients are clipped for an optimizer
    that is not in sight."""
    held = {
        one.uid
        for module in modules_held(step.optimizer)[0]
        for each in alternatives(module)
        for one in _with_whole(each)
    }
    if all(isinstance(one, Object) and one.type == SOME_OPTIMIZER for one in alternatives(step.optimizer)):
        clipped = [one.parameters for one in training.around(step.loops, Clip)]
        held |= {part.uid for one in clipped for part in _listed_of(one)}
    return any(
        one.module.uid in held
        and one.records is not False
        and is_made_of(backward.loss, one.output, with_graph=True)
        for one in training.around(step.loops, Forward)
    )


def _doubt(backward: Backward, step: OptimizerStep) -> str:
    if is_mean_of_labels(backward.loss):
        return "that the model gives the mean over its labels is only known by how it is called"
    return "" if backward.loops == step.loops else "that these batches are for one step is known by a name"


def _listed_of(parameters: Value) -> Iterator[Value]:
    """The models whose parameters these are, as they are or chosen: `[p for p in model.parameters() if p.requires_grad]`."""
    for leaf in leaves(parameters):
        if isinstance(leaf, Op) and leaf.name == "parameters":
            yield from leaf.inputs[:1]


def _with_whole(module: Value) -> Iterator[Value]:
    """A module, and those of which it is a part by name: `model` of `model.head`."""
    yield module
    while isinstance(module, Op) and module.name == "getattr" and module.inputs:
        module = module.inputs[0]
        yield module
