from collections.abc import Iterator
from typing import TypeGuard

from trainlint.facts.api.classes import MODULE, SOME_MODULE
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.attachment import attachment, has_graph, is_no_tensor, terms
from trainlint.facts.ask.evidence import of_sum
from trainlint.facts.ask.flow import is_made_of, is_recurrence, made_of
from trainlint.facts.ask.holding import contained
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.losses import Accumulated, Collected, LossCall
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Carried, Choice, Object, Op, Value, alternatives, constant
from trainlint.facts.seen.kept import GraphKept
from trainlint.finding import Finding
from trainlint.rule import rule

from .held_anyway import is_held_anyway
from .joined import joined
from .rounds import begins_with_steps, goes_on, learns_again

_OF_BATCHES = (Backward, Drawn, LossCall, OptimizerStep)
_OF_STEPS = (Backward, Drawn, OptimizerStep)
_OF_DICTS = frozenset(("items", "values", "keys"))
_ENTRIES = tuple(f".{one}(…)" for one in sorted(_OF_DICTS))
_WEIGHS = frozenset("* / + -".split())
_REDUCES = frozenset(("mean", "sum"))
_ORDERS = frozenset(("enumerate", "zip", "getitem", "items"))


@rule(Training, level="warning", confidence="likely", costs=True)
def check(training: Training) -> Iterator[Finding]:
    trained_on = [backward.loss for backward in training.events(Backward)]
    trained_on += [by_hand.target for by_hand in training.events(ParametersRead)]
    returned = [event.value for event in training.handed_out()]
    losses = {call.output.uid for call in training.events(LossCall)}
    spent = _spent(training)
    yield from _collected(training, spent)
    yield from _held(training)
    yield from joined(training, [*trained_on, *returned])
    kept: list[Accumulated] = []
    needed: list[Accumulated] = []
    for event in training.events(Accumulated):
        if not (isinstance(event.result, Op) and event.result.records) or not _is_over_batches(
            training, event
        ):
            continue
        is_spent = all(_holds_spent(one, spent) for one in alternatives(event.value))
        if any(
            is_no_tensor(one, event.guards) or (not is_spent and _may_be_number(one, losses))
            for one in (event.value, *alternatives(event.value))
        ):
            continue
        found = attachment(event.value)
        if any(map(_is_loss_without_graph, alternatives(event.value))):
            continue
        has_one = found.attached and not found.uncertain and has_graph(event.value) and not _is_weighed(event)
        has_one = has_one and not training.is_test  # which leaves open what a program trains on
        if is_recurrence(event) or not (is_spent or has_one) or begins_with_steps(training, event):
            continue
        if any(isinstance(one, Op) and one.name == "torch.autograd.grad" for one in made_of(event.value)):
            continue  # a term of a loss: else nobody asks for its graph
        is_over = is_spent or all(_holds_spent(one, _ended(training)) for one in alternatives(event.value))
        users = trained_on if is_over else [*trained_on, *returned]
        if any(is_made_of(loss, event.result, with_graph=True) for loss in users):
            needed.append(event)
        else:
            kept.append(event)
    places = {event.at for event in needed}
    trained = [
        one
        for one in training.events(Accumulated)
        if kept and any(is_made_of(loss, one.result, with_graph=True) for loss in trained_on)
    ]
    for event in kept:
        if event.at not in places and not is_held_anyway(event, trained):
            yield _growing(training, event)


def _held(training: Training) -> Iterator[Finding]:
    """What a run has found in the program's lists."""
    for kept in training.facts(GraphKept):
        yield Finding(
            kept.at,
            f"`{kept.text}` still holds this loss of an earlier step, with its graph: memory grows with each iteration. Put "
            "`loss.item()` or `loss.detach()` into it.",
            evidence={"losses with a graph": kept.kept, "steps": kept.steps},
        )


def _growing(training: Training, event: Accumulated) -> Finding:
    """A sum that no call of its function trains on."""
    return Finding(
        event.at,
        f"`{event.total}` keeps the graph of every iteration's loss alive, so memory grows with each "
        "iteration. Add `.item()` or `.detach()`.",
        evidence=of_sum(training, event),
    )


def _collected(training: Training, spent: frozenset[int]) -> Iterator[Finding]:
    """Losses in a list: those that `backward` was called on, if nothing is trained on them by way of the list."""
    for event in training.events(Collected):
        kept = {one.uid for one in alternatives(event.value)}
        is_spent = all(_holds_spent(one, spent) for one in alternatives(event.value))
        if not is_spent or _is_trained_later(training, event, kept):
            continue
        others = (
            one.loss
            for one in training.events(Backward)
            if not all(_comes_down_to(each, kept) for each in alternatives(one.loss))
        )
        if not any(is_made_of(loss, event.value, with_graph=True) for loss in others):
            yield Finding(
                event.at,
                "This list keeps the graph of every iteration's loss alive, so memory grows with each iteration. "
                "Append `.item()` or `.detach()`.",
                is_shown_by_runs=False,
            )


def _is_trained_later(training: Training, event: Collected, kept: set[int]) -> bool:
    """Whether `backward` is called on them behind the loop that collects them: they are taken out of the list again."""
    return any(
        event.loops[-1:] and event.loops[-1] not in one.loops and training.is_after(one, event)
        for one in training.events(Backward)
        if not kept.isdisjoint(each.uid for each in alternatives(one.loss))
    )


def _spent(training: Training) -> frozenset[int]:
    """The numbers of the losses that `backward` was called on, or on the mean or sum of which: they have a graph, and nothing
    trains on it again."""
    return frozenset(
        each.uid
        for backward in training.events(Backward)
        if not backward.by_framework and backward.retains is None and not _is_any_entry(backward.loss)
        for one in alternatives(backward.loss)
        for each in reached([one], _reduced)
    )


@question(start=frozenset(), unknown=frozenset())
def _ended(training: Training) -> frozenset[int]:
    """The numbers of the terms of losses that `backward` was called on: where they have a graph, nothing trains on that again."""
    return frozenset(
        one.uid
        for backward in training.events(Backward)
        if not backward.by_framework and backward.retains is None
        for one in terms(backward.loss)
    )


def _comes_down_to(loss: Value, kept: set[int]) -> bool:
    """Whether a loss is one of some values, or the mean or the sum of one."""
    return any(one.uid in kept for one in reached([loss], _reduced))


def _reduced(value: Value) -> tuple[Value, ...]:
    """What a value is the mean or the sum of all elements of."""
    return value.inputs if _is_reduction(value) and not value.options else ()


def _is_reduction(value: Value) -> TypeGuard[Op]:
    """Whether a value is a mean or a sum of one tensor: not what Python's own `sum` makes of several."""
    return (
        isinstance(value, Op)
        and value.name in _REDUCES
        and value.text.endswith(f".{value.name}(…)")
        and len(value.inputs) == 1
        and isinstance(value.inputs[0], Op)
    )


def _holds_spent(value: Value, spent: frozenset[int]) -> bool:
    """Whether a value is one of these losses, or one of them times a number, as of samples in a batch, its mean or sum, or what
    another one is added to."""
    inside = reached([value], lambda one: one.inputs if _is_product(one) and one.uid not in spent else ())
    found = [one for one in inside if not _is_product(one) or one.uid in spent]
    return any(all(each.uid in spent for each in alternatives(one)) for one in found)


def _is_product(value: Value) -> TypeGuard[Op]:
    """Whether a value is made of numbers of the same step by a sign of arithmetic, or is a mean or a sum."""
    is_one = isinstance(value, Op) and bool(value.records)
    return is_one and (_is_reduction(value) or (isinstance(value, Op) and value.name in _WEIGHS))


def _is_weighed(event: Accumulated) -> bool:
    """Whether the sum so far gets a factor, as that of a moving average does."""
    before = (one for one in event.result.parts() if one is not event.value)
    return any(isinstance(one, Op) and one.name == "*" for one in before)


def _is_any_entry(loss: Value) -> bool:
    """Whether a loss may be any of several values that a dict or list holds."""
    return isinstance(loss, Choice) and not all(guards for guards, _ in loss.options)


def _is_over_batches(training: Training, event: Accumulated) -> bool:
    """Whether an iteration may be a batch: not if each is one layer or parameter of a model, or only a number, with no loss
    and no batch in sight, nor an entry of a dict, if none is trained on. Then the sum is part of one step."""
    loop = training.loops.get(event.loops[-1]) if event.loops else None
    if loop is None:
        return True
    if event.made_in is not None and len(event.made_in) >= len(event.loops):
        return False
    if _is_of_one_batch(training, event):
        return False
    if isinstance(loop.over, Op) and _is_of_dict(loop.over):
        around = event.loops[len(event.made_in) : -1] if event.made_in is not None else ()
        return any(
            training.inside(number, kind)
            for number in (*around, loop.number)
            for kind in (Backward, OptimizerStep)
        )
    if loop.over is None or (isinstance(loop.over, Op) and loop.over.name == "range"):
        kinds = _OF_STEPS if goes_on(training, loop.number) else _OF_BATCHES
        return any(training.inside(loop.number, kind) for kind in kinds)
    if not any(training.inside(loop.number, kind) for kind in (*_OF_STEPS, Forward)) and _begins_with(event):
        return False
    held = (one for value in reached([loop.over], _gone_through) for one in contained(value))
    return not any(
        one.is_a(MODULE) if isinstance(one, Object) else isinstance(one, Op) and _is_of_parameters(one)
        for one in held
    )


def _is_of_one_batch(training: Training, event: Accumulated) -> bool:
    """Whether the sum restarts with each batch of a loop around, as that of several updates on one batch does."""
    total = next((one for one in event.result.parts() if isinstance(one, Carried)), None)
    if total is None or isinstance(total.start, Carried) or total.loop not in event.loops:
        return False
    around = event.loops[: event.loops.index(total.loop)]
    drawn = training.events(Drawn)
    if any(total.loop in one.loops for one in drawn):
        return False
    return any(one.loops and one.loops[-1] in around for one in drawn) or learns_again(
        training, total.loop, around
    )


def _begins_with(event: Accumulated) -> bool:
    """Whether the sum begins anew with the loop that it is made in: what it adds up has been computed before that."""
    total = next((one for one in event.result.parts() if isinstance(one, Carried)), None)
    return total is not None and not isinstance(total.start, Carried) and total.loop == event.loops[-1]


def _is_of_dict(over: Op) -> bool:
    """Whether a loop is over the entries of a dict, which may be one batch."""
    return over.name in _OF_DICTS or (over.name == "call" and over.text.endswith(_ENTRIES))


def _is_of_parameters(value: Op) -> bool:
    """Whether a value is all parameters of a model, or one of them after the other."""
    return value.name == "parameters" or (
        value.name == "iterate" and isinstance(value.inputs[0], Op) and value.inputs[0].name == "parameters"
    )


def _may_be_number(value: Value, losses: set[int]) -> bool:
    """Whether a value is any of several things that a module gives beside its loss, as a module does that is not seen."""
    is_chosen = is_part = is_loss = False
    while isinstance(value, Op) and value.inputs and value.name != "output":
        is_loss = is_loss or value.uid in losses
        key = value.options.get("index")
        is_chosen = is_chosen or value.name in _OF_DICTS or value.name == "iterate"
        is_chosen = is_chosen or (value.name == "getitem" and key is not None and constant(key) is None)
        is_part = is_part or value.name == "getitem"
        value = next((one for one in value.inputs if attachment(one).attached), value.inputs[0])
    if not (isinstance(value, Op) and value.name == "output"):
        return False
    return is_chosen or (
        is_part and not is_loss and value.owner is not None and value.owner.type == SOME_MODULE
    )


def _is_loss_without_graph(value: Value) -> bool:
    """Whether a module that is not seen is given outputs that autograd has not recorded: a loss has no weights to add."""
    if not (isinstance(value, Op) and value.name == "output" and value.owner is not None):
        return False
    given = [one for inner in value.inputs[:1] for one in inner.parts()]
    ways = [attachment(one) for one in given]
    return (
        value.owner.type == SOME_MODULE
        and any(way.unrecorded for way in ways)
        and not any(way.attached for way in ways)
    )


def _gone_through(value: Value) -> tuple[Value, ...]:
    """What a loop iterates over: directly, enumerated, sliced, or zipped with something else."""
    if isinstance(value, Choice):
        return tuple(value.parts())
    return value.inputs if isinstance(value, Op) and value.name in _ORDERS else ()
