"""One training program, or a part of one that is entered from outside, and what happened in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from trainlint.facts.api.classes import OPTIMIZER
from trainlint.facts.model import order
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.event import Event, Returned
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import Built, ModeChange, StateLoaded
from trainlint.facts.model.events.steps import OptimizerStep, ZeroGrad
from trainlint.facts.model.exclusive import measures
from trainlint.facts.model.modules import Unread
from trainlint.facts.model.nodes import Loop, Node
from trainlint.facts.model.values import Constant, Object, Value, alternatives
from trainlint.finding import Open, Place

E = TypeVar("E", bound=Event)
F = TypeVar("F")


@dataclass(frozen=True)
class Earlier:
    """What came before a method of a class that nobody in sight makes.

    Args:
        objects: what the constructor has made, before a method that trains.
        others: the names in methods of the object that neither its constructor nor this one calls, before the same.
        loads: weights that the constructor has loaded into what it holds, where no code of the class sets a mode.
    """

    objects: tuple[Object, ...] = ()
    others: frozenset[str] = frozenset()
    loads: tuple[StateLoaded, ...] = ()


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
        harmless_containers: plain lists and dicts of modules that no code reads, or of which code may register what they
            hold: the number of the module, and the attribute.
        is_test: a function or class of a file of tests; what it does to a model or a file is over with the test.
        name: the entry point as people name it: `train`, `Net.forward`; empty for a module's own code.
        is_cut: a limit was reached, and calls after that were not followed: what seems to be missing may be in them.
        earlier: what came before a method; the constructor's events are among those of a method that trains.
    """

    path: str
    entry: str
    nodes: list[Node] = field(default_factory=list)
    objects: tuple[Object, ...] = ()
    unread: tuple[Unread, ...] = ()
    harmless_containers: frozenset[tuple[int, str]] = frozenset()
    is_test: bool = False
    name: str = ""
    is_cut: bool = False
    earlier: Earlier = Earlier()

    def facts(self, kind: type[F]) -> list[F]:
        """Everything of one type that happened or was seen: the entry point itself, layers, or events."""
        if isinstance(self, kind):
            return [self]
        if kind is Unread:
            return list(self.unread)  # type: ignore[arg-type]
        return self.events(kind)  # type: ignore[type-var]

    def is_in_test(self, place: Place) -> bool:
        """Whether something is done by a test itself, and not by what is tested."""
        return self.is_test and place.path == self.path

    def events(self, kind: type[E]) -> list[E]:
        """Every event of one kind, in order, on whatever branch."""
        return self._by_kind.get(kind) or []

    @cached_property
    def _by_kind(self) -> dict[type, list[Any]]:
        found: dict[type, list[Any]] = {Event: self._events}
        for event in self._events:
            found.setdefault(type(event), []).append(event)
        return found

    def runs(self, *kinds: type[Event]) -> list[list[Event]]:
        """Possible orders of events of these kinds, each loop run twice; none where only one kind occurs."""
        if kinds not in self._runs:
            occurring = [kind for kind in kinds if self.events(kind)]
            self._runs[kinds] = list(order.runs(self.nodes, kinds)) if len(occurring) > 1 else []
        return self._runs[kinds]

    @cached_property
    def _runs(self) -> dict[tuple[type[Event], ...], list[list[Event]]]:
        return {}

    @cached_property
    def _events(self) -> list[Event]:
        return list(order.events(self.nodes))

    @cached_property
    def loops(self) -> dict[int, Loop]:
        return {loop.number: loop for loop in order.loops(self.nodes)}

    def inside(self, loop: int, kind: type[E]) -> list[E]:
        """Events of one kind in a loop, at any depth."""
        return [event for event in self.events(kind) if loop in event.loops]

    def around(self, loops: tuple[int, ...], kind: type[E]) -> list[E]:
        """Events of one kind in the innermost of some loops; all of them where there is none."""
        return self.inside(loops[-1], kind) if loops else self.events(kind)

    def handed_out(self) -> list[Returned]:
        """What callers that are not seen receive."""
        return self.events(Returned)

    def name_of(self, step: OptimizerStep) -> str:
        """What to call the optimizer of a step."""
        found = next(alternatives(step.optimizer), None)
        return (
            found.type.rpartition(".")[2] if isinstance(found, Object) and "?" not in found.type else "step()"
        )

    @property
    def leaves_steps_out(self) -> bool:
        """Whether a run has shown that steps which the program would take are not among its events."""
        return False

    def was_cleared(self, step: OptimizerStep) -> bool | Open | None:
        """Whether the gradients that a step used were cleared before the next, as a run has shown; None where nothing
        ran."""
        return None

    def repeating_loop(self, drawn: Drawn) -> Place | Open | None:
        """The loop on each iteration of which a loop over a loader starts again; None where there is none, and open where a
        run has not gone on for long enough."""
        if len(drawn.loops) < 2 or drawn.loops[-2] in drawn.loader.loops:
            return None
        own, around = self.loops.get(drawn.loops[-1]), self.loops.get(drawn.loops[-2])
        is_over_it = own is not None and own.at.line <= drawn.at.line <= own.at.end_line
        return around.at if is_over_it and around is not None else None

    def left_over(self, step: OptimizerStep) -> dict[str, float | str]:
        """What a run has measured of the gradients that were not cleared; empty where nothing ran."""
        return {}

    def each_time(self, event: Event, others: list[E]) -> dict[str, float | str] | None:
        """How often something happened beside others, as a run has counted; None where the run has not shown that it is
        done each time."""
        return {}

    def inside_loop(self, event: Event) -> tuple[tuple[Any, bool], ...]:
        """The undecided conditions inside its innermost loop under which something happens."""
        around = self.guards_around(event.loops[-1]) if event.loops else ()
        return tuple(guard for guard in event.guards if guard not in around)

    def guards_around(self, loop: int) -> tuple[object, ...]:
        """The conditions under which a loop itself stands: those that all events in it share."""
        inside = self.inside(loop, Event)
        if not inside:
            return ()
        return tuple(guard for guard in inside[0].guards if all(guard in one.guards for one in inside))

    def never_together(self, one: Event, other: Event) -> bool:
        """Whether a program does only one of two things, however often: what decides stays the same in all loops."""
        known = dict(one.guards)
        return any(
            known.get(condition, outcome) is not outcome and condition in self._settings
            for condition, outcome in other.guards
        )

    @cached_property
    def _settings(self) -> frozenset[Any]:
        """The undecided conditions that no loop changes: those that count or compare sizes may be of any number."""
        varying = {one.key for one in order.branches(self.nodes) if one.varies}
        return frozenset(
            one.key
            for one in order.branches(self.nodes)
            if one.key is not None and one.key not in varying and not measures(one.key)
        )

    def is_setting(self, condition: object) -> bool:
        """Whether an undecided condition has the same outcome each time: no loop changes it."""
        return condition in self._settings

    def shared_guards(self, event: Event) -> set[tuple[Any, bool]]:
        """The conditions under which something happens, whichever of several things it is done to."""
        same = [one for one in self.events(type(event)) if one.at == event.at and one.calls == event.calls]
        return set(event.guards).intersection(*(one.guards for one in same))

    def is_own_choice(self, mode: ModeChange, forward: Forward) -> bool:
        """Whether evaluation mode is switched on in the same function and loop as the step, whenever that is reached: on
        purpose."""
        is_beside = mode.calls == forward.calls and mode.loops == forward.loops
        return is_beside and set(mode.guards) <= set(forward.guards)

    def mode_at(self, run: list[Event], forward: Forward) -> ModeChange | None:
        """The last switch of a module's mode before one of its forwards, in one run."""
        return next((last for event, last in self.modes(run, forward.module) if event is forward), None)

    def modes(self, run: list[Event], module: Value) -> list[tuple[Event, ModeChange | None]]:
        """Each event of a run, with the last switch of a module's mode before it. A module that is re-created on
        each iteration of a loop begins each without any."""
        made_in = module.loops if isinstance(module, Object) else ()
        found: list[tuple[Event, ModeChange | None]] = []
        before: Event | None = None
        last: ModeChange | None = None
        for event in run:
            if (
                made_in
                and last is not None
                and before is not None
                and self._loop_continued(before, event) in made_in
            ):
                last = None
            found.append((event, last))
            if isinstance(event, ModeChange) and event.module is module:
                last = event
            before = event
        return found

    def _loop_continued(self, before: Event, event: Event) -> int | None:
        """The loop of which a new iteration began between two events of a run that follow each other."""
        if self._places[id(event)] > self._places[id(before)]:
            return None
        around = [loop for loop in event.loops if loop in before.loops]
        return around[-1] if around else None

    @cached_property
    def _places(self) -> dict[int, int]:
        return {id(event): number for number, event in enumerate(self._events)}

    def is_after(self, event: Event, other: Event) -> bool:
        """Whether one event comes after another on each iteration of the loops that both are in."""
        return self._places[id(event)] > self._places[id(other)]

    def is_made_after(self, one: Object, event: Event) -> bool:
        """Whether an object certainly was made after something happened: they are in no loop together."""
        built = self._built.get(one.uid)
        return built is not None and set(built.loops).isdisjoint(event.loops) and self.is_after(built, event)

    @cached_property
    def _built(self) -> dict[int, Built]:
        return {one.object.uid: one for one in self.events(Built)}

    @cached_property
    def _cleared(self) -> frozenset[int]:
        return frozenset(one.uid for event in self.events(ZeroGrad) for one in alternatives(event.target))

    def is_optimizer(self, value: Value) -> bool:
        """Whether a value is an optimizer: one of a known class, or something whose gradients are cleared too."""
        found = [one for one in alternatives(value) if not (isinstance(one, Constant) and one.value is None)]
        return bool(found) and all(
            (isinstance(one, Object) and one.is_a(OPTIMIZER))
            or (not isinstance(one, Object) and one.uid in self._cleared)
            for one in found
        )
