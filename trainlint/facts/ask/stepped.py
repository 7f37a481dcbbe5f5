"""What optimizers hold, and so what they step and what is cleared with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainlint.facts.api.classes import MODULE, OPTIMIZER, PARAMETER, SOME_MODULE
from trainlint.facts.api.operations import EXTENDS
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.contents import handed_over, leaves
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.holding import contains, numbers_inside
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.parameters import ParametersListed
from trainlint.facts.model.events.steps import Clip, OptimizerStep, SchedulerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Table, Unknown, Value, alternatives, constant

_MOST_PARTS = 200
"""Parts of a list of parameters that are looked through for an optimizer."""
_NEW_TENSORS = frozenset(("cat", "clone"))


class Held(NamedTuple):
    """The modules whose parameters an optimizer holds, and whether that is all that it holds."""

    modules: tuple[Value, ...]
    complete: bool


@question(start=Held((), True), unknown=Held((), False))
def modules_held(optimizer: Value) -> Held:
    """What an optimizer holds, those that it wraps included."""
    modules: list[Value] = []
    complete = True
    for one in reached(alternatives(optimizer), _wrapped):
        if not isinstance(one, Object) or not (one.args or "params" in one.options):
            complete = False
            modules.extend(_given_to_maker(one))
            continue
        for leaf in _given(one):
            match leaf:
                case Op(name="parameters"):
                    modules.extend(leaf.inputs[:1])
                case Object() if not leaf.is_a(OPTIMIZER):
                    modules.append(leaf)
                case Unknown() | Op():
                    complete = False
    return Held(tuple(dict.fromkeys(modules)), complete)


@question(start=True, unknown=False)
def lacks_only_single_parameters(optimizer: Value) -> bool:
    """Whether all that an optimizer holds beside modules are parameters of the program's own, which it was given one by one."""
    return all(
        isinstance(one, Object)
        and bool(one.args or "params" in one.options)
        and all(not isinstance(leaf, (Op, Unknown)) or _is_whole(leaf) for leaf in _given(one))
        for one in reached(alternatives(optimizer), _wrapped)
    )


def _given_to_maker(optimizer: Value) -> Iterator[Value]:
    """The modules whose parameters a function that is not in sight is given, and makes an optimizer of: whatever it does with
    them, and with what else it holds."""
    made = optimizer.stands_for if isinstance(optimizer, Object) else None
    if isinstance(made, Op) and (made.name == "call" or "." in made.name):
        for leaf in reached(made.parts(), _listed, _MOST_PARTS):
            if isinstance(leaf, Op) and leaf.name == "parameters":
                yield from leaf.inputs[:1]


def _listed(value: Value) -> Sequence[Value]:
    """What stands in lists and param groups, `[*net.parameters()]` among it."""
    return () if isinstance(value, Op) and value.name != "iterate" else _parts(value)


def numbers_held(training: Training, optimizer: Value) -> frozenset[int]:
    """The numbers of the modules whose parameters an optimizer holds, and of all that these held when it was given them, and of
    parameters that it was given one by one."""
    listed = {one.output.uid: one.held for one in training.events(ParametersListed) if one.held}
    found: set[int] = set()
    for one in reached(alternatives(optimizer), _wrapped):
        for leaf in _given(one) if isinstance(one, Object) else ():
            if leaf.uid in listed:
                found |= listed[leaf.uid]
                continue
            if isinstance(leaf, Op) and leaf.name == PARAMETER:
                found.add(leaf.uid)
            modules = leaf.inputs[:1] if isinstance(leaf, Op) else (leaf,)
            for module in (each for value in modules for each in alternatives(value)):
                found |= {module.uid, *(numbers_inside(module) if isinstance(module, Object) else ())}
    return frozenset(found)


def _given(optimizer: Object) -> Iterator[Value]:
    """What an optimizer was made with, taken apart."""
    named = (held for name, held in optimizer.options.items() if name in ("params", "model"))
    every = reached((*optimizer.args[:1], *named), lambda one: reversed(_parts(one)))
    return (leaf for leaf in every if _is_whole(leaf) or not (_parts(leaf) or _is_new(leaf)))


def _parts(value: Value) -> Sequence[Value]:
    """What a value given to an optimizer is made of, and what was put into the list that it is. Of a group, only its
    parameters: its rate holds none."""
    if isinstance(value, Table) and "params" in value.entries:
        return (value.entries["params"],)
    if not isinstance(value, Op):
        return value.parts()
    if _is_new(value):
        return ()
    added = [part for one in value.written if one.name in EXTENDS for part in one.inputs[1:]]
    return added if _is_whole(value) else (*value.inputs, *added)


def _is_new(value: Value) -> bool:
    """Whether this is a tensor of its own: a parameter that it was computed from is not stepped with it."""
    return isinstance(value, Op) and value.name in _NEW_TENSORS


def _is_whole(value: Value) -> bool:
    return isinstance(value, Op) and value.name in ("parameters", PARAMETER)


def _wrapped(optimizer: Value) -> Iterator[Object]:
    if isinstance(optimizer, Object):
        for leaf in _given(optimizer):
            if isinstance(leaf, Object) and leaf.is_a(OPTIMIZER):
                yield leaf


def modules_stepped(training: Training, optimizer: Value) -> tuple[Value, ...]:
    """The modules that an optimizer steps: what it holds, or if that is not in sight and it is the only optimizer that
    steps, the modules that are called while autograd records."""
    held = modules_held(optimizer).modules
    if held or not _is_the_only_one(training, optimizer):
        return held
    return tuple(dict.fromkeys(one.module for one in training.events(Forward) if one.records is not False))


def _is_the_only_one(training: Training, optimizer: Value) -> bool:
    """Whether an optimizer of unknown content is the only one that there is."""
    found = [one for one in alternatives(optimizer) if isinstance(one, Object)]
    others = {one.uid for one in training.objects if one.is_a(OPTIMIZER)}
    return len(found) == 1 and found[0].is_open and others <= {found[0].uid}


def is_certainly_not_stepped(training: Training, value: Value) -> bool:
    """Whether all modules that a value comes out of certainly are in no optimizer: all optimizers are in sight, and all
    that they hold."""
    optimizers: list[Value] = [one for one in training.objects if one.is_a(OPTIMIZER)]
    optimizers += [step.optimizer for step in training.events(OptimizerStep)]
    held = [modules_held(one) for one in optimizers]
    behind = [one for inner in made_of(value) for one in _modules_of(inner)]
    if not behind or not held or not all(one.complete for one in held):
        return False
    stepped = [one for found in held for module in found.modules for one in alternatives(module)]
    numbers = frozenset(one.uid for one in stepped)
    return all(
        _owners(one).isdisjoint(numbers)
        and not contains(one, numbers)
        and not any(contains(outer, (one.uid,)) for outer in stepped)
        for one in behind
    )


def _owners(module: Value) -> frozenset[int]:
    """The numbers of a module, and of those whose attribute it is, as far as that is all that is known of it."""
    return frozenset(one.uid for one in handed_over(module))


def _modules_of(value: Value) -> Iterator[Value]:
    """The module whose parameters a value lists, or that has made it."""
    match value:
        case Op(name="parameters", inputs=(module, *_)):
            yield from alternatives(module)
        case Op(owner=Object() as owner) if owner.is_a(MODULE):
            yield owner


def optimizer_of(training: Training, event: SchedulerStep) -> Value:
    """The optimizer of a scheduler; if that is not in sight, the only one that steps."""
    stepped = {
        one.uid: one for step in training.events(OptimizerStep) for one in alternatives(step.optimizer)
    }
    is_unknown = isinstance(event.optimizer, Unknown) and event.scheduler.is_open
    return next(iter(stepped.values())) if is_unknown and len(stepped) == 1 else event.optimizer


@question(start=frozenset(), unknown=frozenset())
def held_modules(optimizer: Value) -> frozenset[int]:
    """The numbers of all modules that an optimizer may hold."""
    return frozenset(one.uid for module in modules_held(optimizer).modules for one in alternatives(module))


def same_parameters(target: Value, optimizer: Value) -> bool:
    """Whether clearing `target` may clear what `optimizer` steps: itself, a module it holds, or unknown things."""
    targets, optimizers = list(alternatives(target)), list(alternatives(optimizer))
    numbers = {one.uid for one in targets}
    if not numbers.isdisjoint(one.uid for one in optimizers):
        return True
    if any(isinstance(one, Object) and one.is_a(OPTIMIZER) for one in targets):
        if not all(isinstance(one, Object) for one in (*targets, *optimizers)):
            return True
        return any(_holds_some(one, held_modules(other)) for one in targets for other in optimizers)
    held = held_modules(optimizer)
    if not held.isdisjoint(numbers) or not modules_held(optimizer).complete:
        return True
    if not all(isinstance(one, Object) and one.type != SOME_MODULE for one in targets):
        return True  # it may be any module
    stepped = (one for module in modules_held(optimizer).modules for one in alternatives(module))
    return any(contains(one, held) for one in targets) or any(contains(one, numbers) for one in stepped)


def clears_some(target: Value, module: Value) -> bool:
    """Whether clearing `target` may clear gradients of a module: itself, one that it is a part of, or an optimizer that holds
    some of it."""
    modules = frozenset(one.uid for one in alternatives(module))
    return any(
        one.uid in modules
        or not isinstance(one, Object)
        or (_holds_some(one, modules) if one.is_a(OPTIMIZER) else contains(one, modules))
        for one in alternatives(target)
    )


def _holds_some(optimizer: Value, modules: frozenset[int]) -> bool:
    """Whether an optimizer holds one of these modules, or one that it is a part of."""
    held = (one for module in modules_held(optimizer).modules for one in alternatives(module))
    return any(one.uid in modules or contains(one, modules) for one in held)


def certainly_clears(target: Value, optimizer: Value) -> bool:
    """Whether clearing `target` certainly clears what `optimizer` steps: itself, or all the modules it holds."""
    targets = {one.uid for one in alternatives(target)}
    if targets == {one.uid for one in alternatives(optimizer)}:
        return True
    held = held_modules(optimizer)
    return modules_held(optimizer).complete and bool(held) and held <= targets


def certainly_steps(training: Training, optimizer: Value, clip: Clip) -> bool:
    """Whether an optimizer certainly uses the gradients that are clipped."""
    if clip.optimizer is not None:
        return clip.optimizer is optimizer
    if (grouped := _grouped(clip.parameters)) is not None:
        return grouped is optimizer
    clipped = _clipped(clip.parameters)
    if not clipped:
        return False
    modules = modules_stepped(training, optimizer)
    held = {one.uid for module in modules for one in alternatives(module)}
    stepped = (one for module in modules for one in alternatives(module))
    return clipped <= held or any(contains(one, clipped) for one in stepped)


@question(start=frozenset(), unknown=frozenset())
def _clipped(parameters: Value) -> frozenset[int]:
    """The numbers of the modules whose parameters these are."""
    return frozenset(
        one.uid
        for leaf in leaves(parameters)
        if isinstance(leaf, Op) and leaf.name == "parameters" and leaf.inputs
        for one in alternatives(leaf.inputs[0])
    )


def _grouped(parameters: Value) -> Value | None:
    """The optimizer of whose param groups these are: `[p for group in optimizer.param_groups for p in group["params"]]`."""
    found = {
        one.inputs[0]
        for one in reached([parameters], most=_MOST_PARTS)
        if isinstance(one, Op)
        and one.name == "getattr"
        and constant(one.options.get("name")) == "param_groups"
        and one.inputs
    }
    return found.pop() if len(found) == 1 else None


def is_one_of_several(optimizer: Value, loops: tuple[int, ...]) -> bool:
    """Whether an optimizer was created in another loop than those around its step, which may go through all of them."""
    return any(
        isinstance(one, Object) and not set(one.loops) <= set(loops) for one in alternatives(optimizer)
    )


def is_made_inside(optimizer: Value, loop: int) -> bool:
    """Whether an optimizer, or a module whose parameters it holds, is re-created on every iteration of a loop."""
    return any(
        loop in getattr(one, "loops", ())
        for held in (optimizer, *modules_held(optimizer).modules)
        for one in alternatives(held)
    )
