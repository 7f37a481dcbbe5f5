from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.flow import graph_of, made_of
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import MANY, Op, Unknown, Value, constant
from trainlint.finding import Finding
from trainlint.rule import rule


@rule(Training, level="warning", confidence="likely", costs=True)
def check(training: Training) -> Iterator[Finding]:
    backwards = training.events(Backward)
    for backward in backwards:
        if constant(backward.retains) is not True or _is_tried_once(training, backward):
            continue
        graph = graph_of(backward.loss, backward.loops)
        graph = graph and graph - frozenset(_without_graph(backward.loss))
        if not graph:
            continue
        others = [one.loss for one in backwards if one is not backward]
        if _is_weighed_again(backward.loss, others):
            continue
        later = [one.loss for one in backwards if training.is_after(one, backward)]
        if later and any(map(_is_lost, (backward.loss, *later))):
            continue
        others += [one.target for one in training.events(ParametersRead)]
        others += [value for one in training.events(Escape) for value in (*one.values, *one.tensors)]
        others += [one.value for one in training.handed_out()]
        others += [value for one in training.objects for value in one.attributes.values()]
        if not any(_shares(one, graph) or _is_of_one(one, backward.loss) for one in others):
            yield Finding(
                backward.at,
                "`retain_graph=True` keeps the graph of this step in memory, but there is no second "
                "`backward()` through it: it costs memory and hides an accidental second backward. Remove it.",
            )


def _is_tried_once(training: Training, backward: Backward) -> bool:
    """Whether a script shows one backward, and trains nothing: its memory is free when it ends."""
    is_alone = training.entry == "program" and not backward.loops and not backward.calls
    return is_alone and not training.events(OptimizerStep)


def _is_lost(loss: Value) -> bool:
    """Whether a part of what makes a loss is not known, because too many conditions change it on the way."""
    return any(isinstance(one, Unknown) and one.text == MANY for one in made_of(loss))


def _is_of_one(value: Value, loss: Value) -> bool:
    """Whether both come from one unknown object, such as a dict of losses."""
    holder = _holder(loss)
    return holder is not None and holder is _holder(value)


def _is_weighed_again(loss: Value, others: list[Value]) -> bool:
    """Whether a loss is the sum of something that is not in sight, and another loss is made of the same."""
    base = _base(loss)
    return base is not loss and any(base in reached([one]) for one in others)


def _base(loss: Value) -> Value:
    """What a loss is the sum or mean of: the losses of the samples, which another loss may weigh."""
    while isinstance(loss, Op) and loss.name in ("sum", "mean") and len(loss.inputs) == 1:
        loss = loss.inputs[0]
    return loss


def _holder(value: Value) -> Value | None:
    match value:
        case Op(name="getitem" | "getattr", inputs=(holder, *_)):
            return holder
    return None


def _without_graph(loss: Value) -> Iterator[int]:
    """The numbers of what goes into a loss and certainly has no graph, such as a batch or targets that are drawn."""
    for one in made_of(loss):
        found = attachment(one) if isinstance(one, Op) else None
        if found is not None and not found.attached and not found.uncertain:
            yield one.uid


def _shares(value: Value, graph: frozenset[int]) -> bool:
    found = graph_of(value, None)
    return found is not None and not found.isdisjoint(graph)
