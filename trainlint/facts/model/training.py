"""One training program, or a part of one that is entered from outside, and what happened in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from trainlint.facts.api.torch_api import CONTAINERS, MODE_DEPENDENT, MODE_DEPENDENT_IF, OPTIMIZER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attention import MaskMet, masks_met
from trainlint.facts.model import events as ev
from trainlint.facts.model import order
from trainlint.facts.model.modules import Unread, Unregistered, unregistered
from trainlint.facts.model.nodes import Loop, Node
from trainlint.facts.model.values import Constant, Object, Op, Unknown, Value, alternatives, constant
from trainlint.finding import Place

E = TypeVar("E", bound=ev.Event)
F = TypeVar("F")


@dataclass(eq=False)
class Training:
    """What one entry point does.

    Args:
        path: the file of the entry point.
        entry: "program" for a module's own code, "function" for a function that only code outside of what
            was read can call, "class" for making an instance of a class that nothing here makes.
        nodes: events in order, with the branches and loops around them.
        objects: everything made on the way.
        unread: layers among what was made that no code reads.
        is_test: a function or class of a file of tests; what it does to a model or a file is over with the test.
        name: the entry point as people name it: `train`, `Net.forward`; empty for a module's own code.
    """

    path: str
    entry: str
    nodes: list[Node] = field(default_factory=list)
    objects: tuple[Object, ...] = ()
    unread: tuple[Unread, ...] = ()
    is_test: bool = False
    name: str = ""

    def facts(self, kind: type[F]) -> list[F]:
        """Everything of one type that a rule can be about: the entry point itself, objects, or events."""
        if isinstance(self, kind):
            return [self]
        if kind is Unregistered:
            return [found for one in self.objects for found in unregistered(one, lambda: self._handed_over)]  # type: ignore[misc]
        if kind is Unread:
            return list(self.unread)  # type: ignore[arg-type]
        if kind is MaskMet:
            return self._masks_met  # type: ignore[return-value]
        return self.events(kind)  # type: ignore[type-var]

    def is_in_test(self, place: Place) -> bool:
        """Whether something is done by a test itself, and not by what is tested."""
        return self.is_test and place.path == self.path

    def leave_open(self, place: Place) -> None:
        """Note that what was asked of a place is not shown here; it matters where a run might refute a finding."""

    def events(self, kind: type[E]) -> list[E]:
        """Every event of one kind, in order, on whatever branch."""
        return self._by_kind.get(kind) or []

    @cached_property
    def _by_kind(self) -> dict[type, list[Any]]:
        found: dict[type, list[Any]] = {ev.Event: self._events}
        for event in self._events:
            found.setdefault(type(event), []).append(event)
        return found

    def runs(self, *kinds: type[ev.Event]) -> list[list[ev.Event]]:
        """Possible orders of events of these kinds, each loop run twice; none where only one kind occurs."""
        if kinds not in self._runs:
            occurring = [kind for kind in kinds if self.events(kind)]
            self._runs[kinds] = list(order.runs(self.nodes, kinds)) if len(occurring) > 1 else []
        return self._runs[kinds]

    @cached_property
    def _runs(self) -> dict[tuple[type[ev.Event], ...], list[list[ev.Event]]]:
        return {}

    @cached_property
    def _masks_met(self) -> list[MaskMet]:
        return list(masks_met(self))

    @cached_property
    def _events(self) -> list[ev.Event]:
        return list(order.events(self.nodes))

    @cached_property
    def _handed_over(self) -> frozenset[int]:
        """Numbers of all values that reach an optimizer, or code that is not known."""
        given = [value for one in self.objects if one.is_a(OPTIMIZER) for value in one.args[:1]]
        given += [value for escape in self.events(ev.Escape) for value in escape.values]
        given += [event.target for event in self.events(ev.ParametersListed)]
        return frozenset(one.uid for value in given for one in (value, *_leaves(value)))

    @cached_property
    def loops(self) -> dict[int, Loop]:
        return {loop.number: loop for loop in order.loops(self.nodes)}

    def inside(self, loop: int, kind: type[E]) -> list[E]:
        """Events of one kind in a loop, at any depth."""
        return [event for event in self.events(kind) if loop in event.loops]

    def held_in(self, module: Value) -> frozenset[int]:
        """Numbers of a module and of all that it and its containers hold."""
        if module.uid not in self._held_in:
            self._held_in[module.uid] = frozenset(one.uid for one in contained(module))
        return self._held_in[module.uid]

    @cached_property
    def _held_in(self) -> dict[int, frozenset[int]]:
        return {}

    def certainly_steps(self, optimizer: Value, clip: ev.Clip) -> bool:
        """Whether an optimizer certainly uses the gradients that are clipped."""
        if clip.optimizer is not None:
            return clip.optimizer is optimizer
        key = (optimizer.uid, clip.parameters.uid)
        if key not in self._steps_clipped:
            self._steps_clipped[key] = _steps_all(optimizer, clip.parameters)
        return self._steps_clipped[key]

    @cached_property
    def _steps_clipped(self) -> dict[tuple[int, int], bool]:
        return {}

    def handed_out(self) -> list[ev.Returned]:
        """What callers that are not seen receive."""
        return self.events(ev.Returned)

    def name_of(self, step: ev.OptimizerStep) -> str:
        """What to call the optimizer of a step."""
        found = next(alternatives(step.optimizer), None)
        return (
            found.type.rpartition(".")[2] if isinstance(found, Object) and "?" not in found.type else "step()"
        )

    def is_made_inside(self, value: Value, loop: int) -> bool:
        """Whether a value, or a module whose parameters it holds, is made anew in every round of a loop."""
        return any(
            loop in getattr(one, "loops", ())
            for held in (value, *modules_held(value)[0])
            for one in alternatives(held)
        )

    def may_touch(self, optimizer: Value, loop: int | None) -> bool:
        """Whether unknown code that is called in a loop (None: anywhere) is handed an optimizer or what it steps."""
        modules, complete = modules_held(optimizer)
        held = {one.uid for value in (optimizer, *modules) for one in alternatives(value)}
        escapes = self.events(ev.Escape) if loop is None else self.inside(loop, ev.Escape)
        return any(
            one.uid in held or (not complete and isinstance(one, Op) and one.name == "parameters")
            for escape in escapes
            for value in escape.values
            for one in handed_over(value)
        )

    def may_touch_anything(self, loops: tuple[int, ...]) -> bool:
        """Whether unknown code is called with a module, optimizer or loss inside these loops."""
        escapes = self.inside(loops[0], ev.Escape) if loops else self.events(ev.Escape)
        return any(
            isinstance(one, Object) for escape in escapes for value in escape.values for one in _leaves(value)
        )

    def is_cleared(self, step: ev.OptimizerStep, loop: int) -> bool:
        """Whether something in a loop clears the gradients that a step uses, or may do so."""
        return any(
            same_parameters(one.target, step.optimizer) for one in self.inside(loop, ev.ZeroGrad)
        ) or self.may_touch(step.optimizer, loop)

    def rounds_of(self, drawn: ev.Drawn) -> Place | None:
        """The loop in each round of which a loop over a loader begins anew; None where there is none."""
        if len(drawn.loops) < 2 or drawn.loops[-2] in drawn.loader.loops:
            return None
        own, around = self.loops.get(drawn.loops[-1]), self.loops.get(drawn.loops[-2])
        is_over_it = own is not None and own.at.line <= drawn.at.line <= own.at.end_line
        return around.at if is_over_it and around is not None else None

    def left_over(self, step: ev.OptimizerStep) -> dict[str, float | str]:
        """What a run has measured of the gradients that were not cleared; empty where nothing ran."""
        return {}

    def each_time(self, event: ev.Event, others: list[E]) -> dict[str, float | str] | None:
        """How often something happened beside others, as a run has counted; None where it is not done each time."""
        return {}

    def inside_loop(self, event: ev.Event) -> tuple[tuple[Any, bool], ...]:
        """The undecided conditions inside its innermost loop under which something happens."""
        around = self.guards_around(event.loops[-1]) if event.loops else ()
        return tuple(guard for guard in event.guards if guard not in around)

    def guards_around(self, loop: int) -> tuple[object, ...]:
        """The conditions under which a loop itself stands: those that all events in it share."""
        inside = self.inside(loop, ev.Event)
        if not inside:
            return ()
        return tuple(guard for guard in inside[0].guards if all(guard in one.guards for one in inside))

    def is_replaced(self, module: Object, loop: int) -> bool:
        """Whether weights of a module are loaded or made anew in a loop: it starts over, and so may its optimizer."""
        return any(
            event.what in ("load_state_dict", "reset_parameters") and event.module.uid in self.held_in(module)
            for event in self.inside(loop, ev.ModuleChanged)
        )

    def is_frozen(self, module: Object) -> bool:
        """Whether the program switches `requires_grad` off somewhere: then it may be this module's."""
        return any(constant(event.wanted) is not True for event in self.events(ev.RequiresGrad))

    def is_own_choice(self, mode: ev.ModeChange, forward: ev.Forward) -> bool:
        """Whether evaluation mode is switched on in the same function and loop as the step: on purpose."""
        return mode.calls == forward.calls and mode.loops == forward.loops and mode.guards == forward.guards

    def mode_at(self, run: list[ev.Event], forward: ev.Forward) -> ev.ModeChange | None:
        """The last switch of a module's mode before one of its forwards, in one run."""
        return next((last for event, last in self.modes(run, forward.module) if event is forward), None)

    def modes(self, run: list[ev.Event], module: Value) -> Iterator[tuple[ev.Event, ev.ModeChange | None]]:
        """Each event of a run, with the last switch of a module's mode before it. A module that is made anew in each
        round of a loop begins each without any."""
        made_in = module.loops if isinstance(module, Object) else ()
        before: ev.Event | None = None
        last: ev.ModeChange | None = None
        for event in run:
            if last is not None and before is not None and self._began_anew(before, event) in made_in:
                last = None
            yield event, last
            if isinstance(event, ev.ModeChange) and event.module is module:
                last = event
            before = event

    def _began_anew(self, before: ev.Event, event: ev.Event) -> int | None:
        """The loop of which a new round began between two events of a run that follow each other."""
        if self._places[id(event)] > self._places[id(before)]:
            return None
        around = [loop for loop in event.loops if loop in before.loops]
        return around[-1] if around else None

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id(event): number for number, event in enumerate(self._events)}

    def is_after(self, event: ev.Event, other: ev.Event) -> bool:
        """Whether one event comes after another in each round of the loops that both are in."""
        return self._places[id(event)] > self._places[id(other)]

    @cached_property
    def _cleared(self) -> frozenset[int]:
        return frozenset(one.uid for event in self.events(ev.ZeroGrad) for one in alternatives(event.target))

    def is_optimizer(self, value: Value) -> bool:
        """Whether a value is an optimizer: one of a known class, or something whose gradients are cleared too."""
        found = [one for one in alternatives(value) if not (isinstance(one, Constant) and one.value is None)]
        return bool(found) and all(
            (isinstance(one, Object) and one.is_a(OPTIMIZER))
            or (not isinstance(one, Object) and one.uid in self._cleared)
            for one in found
        )


def modules_held(optimizer: Value) -> tuple[list[Value], bool]:
    """The modules whose parameters an optimizer holds, and whether that is all that it holds."""
    modules: list[Value] = []
    complete = True
    pending = list(alternatives(optimizer))
    seen: set[int] = set()
    while pending:
        one = pending.pop(0)
        if one.uid in seen:
            continue
        seen.add(one.uid)
        if not isinstance(one, Object) or not (one.args or "params" in one.options):
            complete = False
            continue
        for value in (
            *one.args[:1],
            *(held for name, held in one.options.items() if name in ("params", "model")),
        ):
            for leaf in _leaves(value):
                if isinstance(leaf, Op) and leaf.name == "parameters":
                    modules.extend(leaf.inputs[:1])
                elif isinstance(leaf, Object) and leaf.is_a(OPTIMIZER):
                    pending.append(leaf)
                elif isinstance(leaf, Object):
                    modules.append(leaf)
                elif isinstance(leaf, (Unknown, Op)):
                    complete = False
    return modules, complete


def _leaves(value: Value, depth: int = 0) -> Iterator[Value]:
    """What a value is in the end made of; a list of parameters stays whole."""
    inner = () if isinstance(value, Op) and value.name == "parameters" else value.parts()
    if not inner or depth > 8:
        yield value
        return
    for part in inner:
        yield from _leaves(part, depth + 1)


def contained(module: Value) -> Iterator[Value]:
    """A module, and all that it and its containers hold."""
    return reached([module], _content)


def _content(value: Value) -> Iterable[Value]:
    if isinstance(value, Object):
        return value.attributes.values()
    return () if isinstance(value, Op) else value.parts()


def handed_over(value: Value, depth: int = 0) -> Iterator[Value]:
    """What code that is given a value can get at: the value, what it contains, and whose attribute it is."""
    yield value
    inner: list[Value] = []
    if isinstance(value, Op):
        inner = (
            list(value.inputs[:1])
            if value.name in ("parameters", "getattr", "iterate", "getitem", "filter")
            else []
        )
    elif not isinstance(value, Object):
        inner = list(value.parts())
    if depth < 8:
        for one in inner:
            yield from handed_over(one, depth + 1)


def same_parameters(target: Value, optimizer: Value) -> bool:
    """Whether clearing `target` may clear what `optimizer` steps: itself, a module it holds, or unknown things."""
    targets, optimizers = list(alternatives(target)), list(alternatives(optimizer))
    if {one.uid for one in targets} & {one.uid for one in optimizers}:
        return True
    if any(isinstance(one, Object) and one.is_a(OPTIMIZER) for one in targets):
        if all(isinstance(one, Object) for one in (*targets, *optimizers)):
            return bool(
                {one.uid for held in targets for one in modules_held(held)[0]}
                & {one.uid for held in optimizers for one in modules_held(held)[0]}
            )
        return True
    modules, complete = modules_held(optimizer)
    held = {one.uid for module in modules for one in alternatives(module)}
    if held & {one.uid for one in targets}:
        return True
    if not complete or not all(isinstance(one, Object) for one in targets):
        return True
    return any(_contains(one, held) for one in targets if isinstance(one, Object)) or any(
        _contains(inner, {one.uid for one in targets})
        for module in modules
        for inner in alternatives(module)
        if isinstance(inner, Object)
    )


def _contains(module: Object, wanted: set[int]) -> bool:
    """Whether one of these objects is an attribute of a module, at any depth."""
    return any(one.uid in wanted for one in inside(module))


def inside(module: Object) -> Iterator[Value]:
    """What the attributes of a module are in the end made of, and those of the objects among that."""
    return reached(_held_by(module), _held_by)


def _held_by(value: Value) -> list[Value]:
    attributes = value.attributes.values() if isinstance(value, Object) else ()
    return [one for held in attributes for one in _leaves(held)]


def is_part_of(inner: Object, outer: Object) -> bool:
    """Whether a module is another one, or a part of it."""
    return inner is outer or _contains(outer, {inner.uid})


def certainly_clears(target: Value, optimizer: Value) -> bool:
    """Whether clearing `target` certainly clears what `optimizer` steps: itself, or all the modules it holds."""
    targets = {one.uid for one in alternatives(target)}
    steps = {one.uid for one in alternatives(optimizer)}
    if targets == steps:
        return True
    modules, complete = modules_held(optimizer)
    held = {one.uid for module in modules for one in alternatives(module)}
    return complete and bool(held) and held <= targets


def depends_on_mode(module: Object, depth: int = 0) -> bool:
    """Whether a module may behave otherwise in training than in evaluation, as far as its layers are known."""
    is_layer = module.type.startswith("torch.nn.") and module.type not in CONTAINERS
    if is_layer and module.definition is None:
        return _layer_depends_on_mode(module, module.type.removeprefix("torch.nn."))
    if module.definition is None and not module.type.startswith("torch.nn."):
        return True
    layers = [one for value in module.attributes.values() for one in _leaves(value)]
    for one in layers:
        if isinstance(one, Unknown) or (
            isinstance(one, Object) and one is not module and depth < 8 and depends_on_mode(one, depth + 1)
        ):
            return True
    return False


def _layer_depends_on_mode(layer: Object, name: str) -> bool:
    if name not in MODE_DEPENDENT_IF or layer.is_open:
        return name in MODE_DEPENDENT
    asked = layer.argument(*MODE_DEPENDENT_IF[name])
    return asked is not None and not (
        isinstance(asked, Constant) and not asked.is_default and not asked.value
    )


def _steps_all(optimizer: Value, parameters: Value) -> bool:
    """Whether an optimizer certainly steps all modules of which these are the parameters."""
    clipped = {
        one.uid
        for leaf in _leaves(parameters)
        if isinstance(leaf, Op) and leaf.name == "parameters" and leaf.inputs
        for one in alternatives(leaf.inputs[0])
    }
    modules = [one for module in modules_held(optimizer)[0] for one in alternatives(module)]
    held = {one.uid for one in modules}
    return bool(clipped) and (
        clipped <= held or any(_contains(one, clipped) for one in modules if isinstance(one, Object))
    )


def may_be_disabled(scaler: Object) -> bool:
    """Whether a gradient scaler is, or may be, switched off."""
    enabled = scaler.options.get("enabled")
    return isinstance(enabled, Constant) and enabled.value is False
