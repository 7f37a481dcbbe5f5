"""Parts of what an optimizer steps that no gradient reaches, though what follows them learns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.gradients import NO_GRADIENT, REBUILDS
from trainlint.facts.api.layers import WITH_PARAMETERS
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.attachment import cuts, is_index
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.evidence import held
from trainlint.facts.ask.freezing import is_another_entry, may_be_frozen
from trainlint.facts.ask.holding import is_part_of, numbers_inside
from trainlint.facts.ask.starving import starving, unrecorded
from trainlint.facts.ask.stepped import modules_held
from trainlint.facts.ask.trained_by import has_loss
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.modules import Built, ModeChange, ModuleChanged
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives
from trainlint.facts.seen.modules import Unrecorded
from trainlint.finding import Place

_TRAIN = frozenset(("backward", "manual_backward"))
_CONVERTS = frozenset("numpy cpu cuda to float double half".split())


@dataclass(frozen=True)
class PartCut:
    """A part of a model that never learns.

    Args:
        op: what cuts it off: an operation such as `detach`, or one that autograd does not record.
        step: the step of the optimizer that holds its parameters.
        doubt: why that may be meant.
    """

    op: Op
    backward: Backward
    step: OptimizerStep
    doubt: str = ""


@question(start=(), unknown=())
def parts_cut(training: Training) -> tuple[PartCut, ...]:
    """The cuts between a layer that learns and layers that an optimizer steps and that no loss of the program reaches."""
    pairs = list(_followed_by(training))
    is_all = _TRAIN.isdisjoint(training.earlier.others)  # another method may train what this one leaves alone
    if not pairs or not is_all or _are_changed_by_hand(training):
        return ()
    recorded = _behind_losses(training)
    if not any(isinstance(one, Op) and _is_cut(one) for one in recorded):
        return ()
    learning = _learning(recorded)
    return tuple(
        found
        for backward, step in pairs
        for op in _cuts_before_layers(backward)
        for found in _judged(training, op, backward, step, learning)
    ) + tuple(
        found
        for pair in pairs
        for way in (_cut_in_modules, _cut_behind_named)
        for found in way(training, *pair, learning)
    )


def never_learns(training: Training, backward: Backward, cut: Op) -> bool:
    """Whether the optimizer that steps after a backward holds layers before a cut that no loss of the program reaches: their
    only way to a gradient is the one that is cut."""
    if _are_changed_by_hand(training):
        return False
    steps = [step for before, step in _followed_by(training) if before is backward]
    learning = _learning(_behind_losses(training))
    ended = reached(cut.parts(), lambda one: () if isinstance(one, Op) and one.records else one.parts())
    taught = _recorded_layers([one for one in ended if isinstance(one, Op) and one.records])
    held = [one for step in steps for one in taught if _is_held(one, step)]
    return bool(held) and _is_untrained(training, held, learning)


def _are_changed_by_hand(training: Training) -> bool:
    return bool(training.events(ParametersRead)) or any(one.within for one in training.events(Built))


def _behind_losses(training: Training) -> list[Value]:
    """What gradients of all losses may go through."""
    return list(reached((backward.loss for backward in training.events(Backward)), _recorded))


def _learning(recorded: list[Value]) -> dict[int, Object]:
    """The modules that gradients reach, by number."""
    own = [one.owner for one in recorded if isinstance(one, Op) and not _stops(one) and one.name != "output"]
    learning = {one.uid: one for one in own if one is not None}
    return learning | {one.uid: one for one in recorded if isinstance(one, Object) and one.is_a(MODULE)}


def _recorded_layers(values: Iterable[Value]) -> list[Object]:
    """The layers that some values have a graph of."""
    owners = (one.owner for one in reached(values, _recorded) if isinstance(one, Op) and not _stops(one))
    return list(dict.fromkeys(one for one in owners if one is not None and _is_layer(one)))


def perhaps_cut(training: Training) -> Iterator[Place]:
    """Where a run has shown that parameters of an optimizer got no gradient, the places before its losses that may be the
    reason: they are not refuted."""
    if not isinstance(training, Recorded):
        return
    if any(one.expected and not one.reached and one.gradient is None for one in held(training)):
        yield from (one.at for one in training.facts(Unrecorded))
        yield from (
            one.at
            for one in reached(backward.loss for backward in training.events(Backward))
            if isinstance(one, Op) and one.at is not None and _is_cut(one)
        )


def _followed_by(training: Training) -> Iterator[tuple[Backward, OptimizerStep]]:
    """Each backward pass, and the steps that use its gradients."""
    done = set()
    for run in training.runs(Backward, OptimizerStep):
        before: Event | None = None
        for event in run:
            if isinstance(event, OptimizerStep) and isinstance(before, Backward):
                key = (id(before), id(event))
                if key not in done:
                    done.add(key)
                    yield before, event
            else:
                before = event


def _recorded(value: Value) -> Iterable[Value]:
    """What a value is made of, as far as gradients may go."""
    return () if isinstance(value, Op) and _stops(value) else value.parts()


def _stops(op: Op) -> bool:
    return op.records is False or cuts(op) or op.name in NO_GRADIENT or is_index(op)


def _is_cut(op: Op) -> bool:
    return op.at is not None and (op.records is False or cuts(op))


def _cuts_before_layers(backward: Backward) -> list[Op]:
    """The cuts before layers that learn from a loss; not those of its targets."""
    layers = [
        one
        for one in reached([backward.loss], _recorded)
        if isinstance(one, Op) and not _stops(one) and _is_layer(one.owner)
    ]
    before = (inner for layer in layers for inner in layer.parts())
    found = [one for one in reached(before, _recorded) if isinstance(one, Op) and _is_cut(one)]
    known = {one.uid for one in (*starving(backward.loss), *unrecorded(backward.loss))}
    return [one for one in found if one.uid not in known]


def _cut_in_modules(
    training: Training, backward: Backward, step: OptimizerStep, learning: dict[int, Object]
) -> Iterator[PartCut]:
    """The cuts before what a module gives by other ways than layers, as by the places at which it reads a grid that it has
    learned."""
    for cut in reached([backward.loss], _recorded):
        if isinstance(cut, Op) and cut.at is not None and cuts(cut):
            layers = _recorded_layers(cut.parts())
            is_held = bool(layers) and all(_is_held(one, step) for one in layers)
            if is_held and _is_untrained(training, layers, learning) and _is_given(training, cut, layers):
                yield PartCut(cut, backward, step, "they may be meant to stay as they are")


def _cut_behind_named(
    training: Training, backward: Backward, step: OptimizerStep, learning: dict[int, Object]
) -> Iterator[PartCut]:
    """The copies of what a module gives that an optimizer is given by itself, where nothing but the loss follows: one of two
    towers whose outputs are compared. What is only detached may be a target."""
    named = _named(step)
    whole = {one.uid for one in (*starving(backward.loss), *unrecorded(backward.loss))}
    for cut in reached([backward.loss], _recorded):
        if isinstance(cut, Op) and cut.name in REBUILDS and cut.at is not None and cut.uid not in whole:
            owners = [one.owner for one in reached(cut.parts(), _converted) if isinstance(one, Op)]
            towers = list(dict.fromkeys(one for one in owners if one is not None and one.uid in named))
            is_taught = any(is_part_of(other, one) for one in towers for other in learning.values())
            if towers and not is_taught and _is_untrained(training, towers, learning):
                yield PartCut(cut, backward, step, "they may be meant to stay as they are")


def _converted(value: Value) -> Iterable[Value]:
    """What a value is another form of, with the same numbers."""
    return value.inputs[:1] if isinstance(value, Op) and (cuts(value) or value.name in _CONVERTS) else ()


def _is_given(training: Training, cut: Op, layers: list[Object]) -> bool:
    """Whether a module that holds some layers gives what is made of a cut, and not a loss of which that is the target."""
    losses = {one.output.uid for one in training.events(LossCall)}

    def into(one: Value) -> Iterable[Value]:
        return () if one.uid in losses else _recorded(one)

    return any(
        output.owner is not None
        and all(is_part_of(one, output.owner) for one in layers)
        and any(one is cut for one in reached(output.parts(), into))
        for output in reached((one.loss for one in training.events(Backward)), _recorded)
        if isinstance(output, Op) and output.name == "output"
    )


def _is_layer(owner: Object | None) -> bool:
    if owner is None or not owner.is_a(MODULE):
        return False
    return owner.type.removeprefix("torch.nn.") in WITH_PARAMETERS or "?" in owner.type


def _judged(
    training: Training, op: Op, backward: Backward, step: OptimizerStep, learning: dict[int, Object]
) -> Iterator[PartCut]:
    named = _named(step)
    behind = {
        one.owner.uid: one
        for one in reached([op])
        if isinstance(one, Op)
        and one.owner is not None
        and (_is_layer(one.owner) or (one.owner.uid in named and one.name != "output"))
    }
    if not behind:
        return
    layers = [one.owner for one in behind.values() if one.owner is not None]
    if not all(_is_held(one, step) for one in layers) or not _is_untrained(training, layers, learning):
        return
    own = {id(one) for one in training.objects if not one.is_given}
    is_sure = all(id(one) in own and "?" not in one.type for one in layers)
    doubt = "" if is_sure else "these layers are given, and may be frozen"
    yield PartCut(op if cuts(op) else _called(op, layers), backward, step, doubt)


def _is_untrained(training: Training, layers: list[Object], learning: dict[int, Object]) -> bool:
    """Whether no gradient reaches any of some layers, and nothing shows that they are meant to stay as they are."""
    if any(is_part_of(one, other) for one in layers for other in learning.values()):
        return False
    if may_be_frozen(training, *layers) or _is_kept(training, layers, learning) or _escapes(training, layers):
        return False
    return not has_loss(
        training, frozenset(one.uid for one in layers)
    )  # else what is missing is its `backward()`


def _called(op: Op, layers: list[Object]) -> Op:
    """The call of the module that is not recorded: the nearest that holds one of these layers."""
    made = (one for one in reached([op]) if isinstance(one, Op) and one.owner is not None)
    calls = (one for one in made if one.name == "output" and one.records is False)
    return next((one for one in calls if _holds_one(one.owner, layers)), op)


def _holds_one(module: Object | None, layers: list[Object]) -> bool:
    return module is not None and any(is_part_of(one, module) for one in layers)


def _is_held(layer: Object, step: OptimizerStep) -> bool:
    optimizers = list(alternatives(step.optimizer))
    return bool(optimizers) and all(layer.uid in _held(one) for one in optimizers)


@question(start=frozenset(), unknown=frozenset())
def _held(optimizer: Value) -> frozenset[int]:
    modules = [one for module in modules_held(optimizer).modules for one in alternatives(module)]
    objects = [one for one in modules if isinstance(one, Object)]
    if len(objects) < len(modules):
        return frozenset()
    return frozenset[int]().union(*((one.uid, *numbers_inside(one)) for one in objects))


def _named(step: OptimizerStep) -> frozenset[int]:
    """The modules that an optimizer is given by themselves: `{"params": model.backbone.parameters(), "lr": 1e-5}`."""
    return frozenset(
        one.uid
        for optimizer in alternatives(step.optimizer)
        for module in modules_held(optimizer).modules
        for one in alternatives(module)
    )


def _is_kept(training: Training, layers: list[Object], learning: dict[int, Object]) -> bool:
    """Whether layers may be meant to stay as they are: they were given weights, which may be shared, or are kept in
    evaluation mode, and not switched back."""
    given = [one.module for one in training.events(ModuleChanged) if not one.draws]
    switched = training.events(ModeChange)
    back = {one.module.uid for one in switched if one.training is True}
    still = [one.module for one in switched if one.training is not True and one.module.uid not in back]
    for module in (one for value in (*given, *still) for one in alternatives(value)):
        if not isinstance(module, Object):
            if all(is_another_entry(module, one) for one in layers):
                continue
            return True
        learns_too = any(is_part_of(one, module) for one in learning.values())
        if any(is_part_of(one, module) for one in layers) and not (module in still and learns_too):
            return True
    return any(
        not {"weight", "bias"}.isdisjoint(one.attributes)
        for one in training.objects
        if one.type.startswith("torch.nn.")
    )


def _escapes(training: Training, layers: list[Object]) -> bool:
    """Whether code that is not known is handed some layers; not that which is given parameters to make an optimizer of them."""
    made_at = {
        one.at
        for step in training.events(OptimizerStep)
        for one in alternatives(step.optimizer)
        if isinstance(one, Object)
    }
    handed = (
        one
        for escape in training.events(Escape)
        if escape.at not in made_at
        for value in escape.values
        for one in handed_over(value)
        if isinstance(one, Object)
    )
    return any(is_part_of(layer, one) for one in handed for layer in layers)
