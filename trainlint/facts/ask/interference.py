"""What may have happened to gradients and weights in a part of a program, by its own doing or by code that is not known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from trainlint.facts.api.classes import LOADER, SCHEDULER
from trainlint.facts.api.losses import SCALING
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.escapes import only_looks
from trainlint.facts.ask.holding import contains, held_in, is_part_of, module_of
from trainlint.facts.ask.stepped import clears_some, modules_held, same_parameters
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import ModuleChanged
from trainlint.facts.model.events.parameters import GradientSet, ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Choice, Object, Op, Value, alternatives
from trainlint.finding import Open, Place


def may_touch(training: Training, optimizer: Value, loop: int | None) -> bool:
    """Whether unknown code that is called in a loop is handed an optimizer or what it steps.

    Args:
        loop: None asks of the whole program.
    """
    modules, complete = modules_held(optimizer)
    escapes = training.events(Escape) if loop is None else training.inside(loop, Escape)
    return _are_handed(training, escapes, optimizer, (optimizer, *modules), any_parameters=not complete)


def may_clear(training: Training, optimizer: Value, loop: int) -> bool:
    """Whether unknown code that is called in a loop, and that is handed an optimizer or what it steps, may clear gradients. What
    is given a model, and gives what `backward()` begins with, computes a loss: who clears does so elsewhere."""
    if not may_touch(training, optimizer, loop):
        return False
    escapes = training.inside(loop, Escape)
    if _are_handed(training, escapes, optimizer, (optimizer,)):
        return True
    modules, complete = modules_held(optimizer)
    computing = computes_losses(training.inside(loop, Backward))
    left = [one for one in escapes if one.at not in computing]
    return _are_handed(training, left, optimizer, modules, any_parameters=not complete)


_DOES_MORE = re.compile(r"step|train|updat|zero|clear|reset|clos|backward|optim|learn|fit", re.IGNORECASE)
"""What functions are called that may do more than to compute a loss."""


def computes_losses(backwards: Iterable[Backward]) -> set[Place | None]:
    """Where unknown functions are called of which a loss is a sum, in front of its `backward()`."""
    return {
        op.at
        for backward in backwards
        for op in reached([backward.loss], _summed)
        if isinstance(op, Op)
        and op.owner is None
        and (op.name == "call" or "." in op.name)
        and not _DOES_MORE.search(op.text.partition("(")[0])
    }


def _summed(value: Value) -> Sequence[Value]:
    """What a loss is a sum of, weighed or not, and what an entry of several losses is taken from."""
    if isinstance(value, Op) and (value.name in SCALING or value.name in _SUMS):
        return value.inputs
    return value.parts() if isinstance(value, Choice) else ()


_SUMS = frozenset("+ - add sub sum mean scale getitem".split())


def may_step(training: Training, optimizer: Value, loop: int) -> bool:
    """Whether unknown code may take the steps of an optimizer: it is handed it anywhere, and may keep it, or in this loop
    what it steps. What is handed a model alone behind a loop, as to save it, takes no step in it."""
    return _are_handed(training, training.events(Escape), optimizer, (optimizer,)) or may_touch(
        training, optimizer, loop
    )


def _are_handed(
    training: Training,
    escapes: list[Escape],
    optimizer: Value,
    values: tuple[Value, ...],
    *,
    any_parameters: bool = False,
) -> bool:
    """Whether unknown code is handed one of some values, but by what makes the optimizer, or a schedule of it: these are
    given it, or what it steps. A method that is not known of what an optimizer stands in for is handed it:
    `self.optimizer.before(step)`."""
    every = [one for value in values for one in alternatives(value)]
    held = {one.uid for one in every}
    held |= {one.stands_for.uid for one in every if isinstance(one, Object) and one.stands_for is not None}
    made_at = {one.at for one in alternatives(optimizer) if isinstance(one, Object)}
    made_at |= {one.at for one in training.objects if one.is_a(SCHEDULER)}
    return any(
        one.uid in held or (any_parameters and isinstance(one, Op) and one.name == "parameters")
        for escape in escapes
        if escape.at not in made_at and not only_looks(escape)
        for value in escape.values
        for one in handed_over(value)
    )


def uses_gradients(training: Training, loop: int | None) -> bool:
    """Whether code in a loop, or anywhere, reads or sets gradients itself: without them, what it writes in place is no
    training step."""
    by_hand = training.events(ParametersRead) if loop is None else training.inside(loop, ParametersRead)
    return any(one.of_gradients for one in by_hand)


def may_set_gradients(training: Training, loop: int | None, layers: Collection[Object] | None = None) -> bool:
    """Whether code in a loop writes gradients or parameters itself, or hands gradients to code that is not known. One that
    only looks at them, for a norm that is logged, changes nothing, unless gradients are set: they may be made of these.

    Args:
        loop: None asks of the whole program.
        layers: those whose parameters matter, where not all do.
    """
    by_hand = training.events(ParametersRead) if loop is None else training.inside(loop, ParametersRead)
    concern = [one for one in by_hand if not _is_of_others(one, layers)]
    are_set = any(one.of_gradients and not one.only_reads for one in by_hand)
    if any(are_set or not one.only_reads for one in concern):
        return True
    escapes = (training.events(Escape) if loop is None else training.inside(loop, Escape)) if by_hand else []
    return any(
        isinstance(one, Op) and one.name == "grad"
        for escape in escapes
        for one in reached([*escape.values, *escape.tensors])
    )


def _is_of_others(written: ParametersRead, layers: Collection[Object] | None) -> bool:
    """Whether parameters are written of a module that certainly has none of these layers: a target network, an average."""
    module = module_of(written.target)
    if layers is None or module is None:
        return False
    return not any(is_part_of(one, module) or is_part_of(module, one) for one in layers)


def may_touch_anything(training: Training, loops: tuple[int, ...]) -> bool:
    """Whether unknown code is called with a module or optimizer in the innermost of these loops: what is called outside of
    its iterations has no part in them. A tensor that a module has computed does not give the module away."""
    escapes = training.around(loops, Escape)
    return any(
        isinstance(one, Object) and not one.is_a(LOADER)
        for escape in escapes
        if not only_looks(escape)
        for value in escape.values
        for one in handed_over(value)
    )


def is_cleared(training: Training, step: OptimizerStep, loop: int) -> bool | Open:
    """Whether something in a loop clears the gradients that a step uses, or may do so; in a run, whether it did, and
    open where that was not shown."""
    seen = training.was_cleared(step)
    if seen is not None:
        return seen
    clears = training.inside(loop, ZeroGrad)
    is_so = any(
        same_parameters(one.target, step.optimizer) and not _is_for_another(training, one, step)
        for one in clears
    )
    return is_so or may_clear(training, step.optimizer, loop) or _are_replaced(training, step, clears)


def _are_replaced(training: Training, step: OptimizerStep, clears: list[ZeroGrad]) -> bool:
    """Whether the gradients that a step uses are those of other parameters, which replace what was there before, and something
    clears those others."""
    replaced = [
        one
        for one in training.inside(step.loops[-1], GradientSet)
        if same_parameters(one.target, step.optimizer)
    ]
    sources = [source for one in replaced for source in one.sources]
    return bool(replaced) and all(
        any(clears_some(one.target, source) for one in clears) or not isinstance(source, Object)
        for source in sources
    )


def _is_for_another(training: Training, clear: ZeroGrad, step: OptimizerStep) -> bool:
    """Whether gradients are only cleared under another setting, which has a step of its own."""
    return training.never_together(clear, step) and any(
        training.never_together(other, step) and not training.never_together(other, clear)
        for other in training.events(OptimizerStep)
        if same_parameters(other.optimizer, step.optimizer)
    )


def is_replaced(training: Training, module: Object, loop: int) -> bool:
    """Whether weights of a module are loaded or re-created in a loop, by itself, for a part of it, or with all of what it is
    a part of: it restarts, and so may its optimizer."""
    return any(
        (event.draws and event.module.uid in held_in(module))
        or (
            event.what == "load_state_dict"
            and (event.module.uid in held_in(module) or contains(event.module, (module.uid,)))
        )
        for event in training.inside(loop, ModuleChanged)
    )
