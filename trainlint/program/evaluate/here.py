"""What holds where the evaluated code stands: its context, its functions, its conditions, and what it may still take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from trainlint import limits
from trainlint.facts.api.classes import MODULE
from trainlint.facts.model.effort import OutOfSteps
from trainlint.facts.model.nodes import Node
from trainlint.facts.model.values import Items, Object
from trainlint.program.evaluate import conditions
from trainlint.program.evaluate.context import Context, Following, Inside, Work
from trainlint.program.evaluate.uses import Trace
from trainlint.program.source import syntax as s
from trainlint.program.source.keeping import keeps_what_it_makes


class Here:
    """Where the evaluated code stands."""

    def __init__(self) -> None:
        self.here = Context([])
        """What holds around the evaluated code."""
        self.work = Work.begun("PROGRAM_STEPS")
        """The entry point that is evaluated."""
        self.frames = self.work.frames
        """Its functions that have not returned, the innermost last."""

    def inside(self, *kept: str, **changes: Any) -> Inside:
        """Fields of the context that are something else for what is done inside, and those that stay what they are."""
        return Inside(self, kept, changes)

    def assume(self, implied: Iterable[conditions.Guard]) -> None:
        """From here on conditions hold, the first of them undecided, until what holds here ends."""
        found = list(implied)
        known = {**self.known, **dict(found)}
        self.here = self.here._replace(known=known, guards=(*self.guards, found[0]))

    def learn(self, implied: Iterable[conditions.Guard]) -> None:
        """From here on conditions hold, whatever way the program has taken, until what holds here ends."""
        self.here = self.here._replace(known={**self.known, **dict(implied)})

    def forget(self, before: Context) -> None:
        """What was assumed since does not hold any more."""
        if self.here is not before:
            self.here = self.here._replace(known=before.known, guards=before.guards)

    def set_recording(self, records: bool | None) -> None:
        """Autograd is switched on or off from here on."""
        self.here = self.here._replace(records=records)

    @property
    def nodes(self) -> list[Node]:
        return self.here.nodes

    @property
    def records(self) -> bool | None:
        return self.here.records

    @property
    def loops(self) -> tuple[int, ...]:
        return self.here.loops

    @property
    def known(self) -> Mapping[Any, bool]:
        return self.here.known

    @property
    def guards(self) -> tuple[conditions.Guard, ...]:
        return self.here.guards

    @property
    def objects(self) -> list[Object]:
        return self.work.objects

    @property
    def trace(self) -> Trace:
        return self.work.trace

    def certainly_once(self, made: Items) -> bool:
        """Whether what happens here happens exactly once for a list that was made earlier."""
        return len(self.loops) <= len(made.loops) and len(self.guards) <= made.branch

    def depth(self) -> int:
        """How many undecided conditions hold here."""
        return len(self.guards)

    def is_plainly_reached(self) -> bool:
        """Whether no undecided condition of the running function stands around the code."""
        return len(self.guards) <= self.frames[-1].guards

    def is_method_of(self, value: Object) -> bool:
        """Whether the evaluated code is a method of this object's."""
        return self.frames[-1].receiver is value

    def forwarding(self) -> Object | None:
        """The module whose forward is running, by itself or through what it calls."""
        for frame in reversed(self.frames):
            if frame.code is not None and frame.code.name == "forward" and isinstance(frame.receiver, Object):
                return frame.receiver if MODULE in frame.receiver.bases else None
        return None

    def guards_in_forward(self) -> tuple[conditions.Guard, ...]:
        """The undecided conditions that hold here and did not when the running forward was called."""
        for frame in reversed(self.frames):
            if frame.code is not None and frame.code.name == "forward":
                return self.guards[frame.guards :]
        return ()

    def building(self) -> dict[str, Any]:
        """Where something is made, as events of that say it."""
        within = self.building_in()
        return {"within": within, "under": self.guards_in_forward()} if within is not None else {}

    def building_in(self) -> Object | None:
        """The module whose forward makes something, and neither as a part of a module that it makes nor to keep it."""
        making: list[s.Function] = []
        for frame in reversed(self.frames):
            if frame.code is not None and frame.code.name == "__init__":
                return None
            if frame.code is not None:
                making.append(frame.code)
            if frame.code is not None and frame.code.name == "forward":
                return None if any(keeps_what_it_makes(one) for one in making) else self.forwarding()
        return None

    def in_fallback(self) -> bool:
        """Whether the program only comes here when something newer is missing."""
        return self.here.asking > 0 or any(_is_for_older(*one) for one in (*self.guards, *self.known.items()))

    # Limits

    def spend(self, steps: int = 1) -> None:
        """Count statements and expressions. Raises OutOfSteps where the entry point takes too many."""
        work = self.work
        budget = work.budget
        work.steps += steps
        budget.steps += steps
        if budget.steps > budget.most:
            raise OutOfSteps

    def copied(self, parts: int) -> None:
        """Count parts of a collection that are copied. Raises OutOfSteps too."""
        self.work.budget.spend(parts // limits.PARTS_PER_STEP)

    def follows(self) -> bool:
        """Whether calls are still followed."""
        is_deep = len(self.frames) > limits.MAX_DEPTH
        if self.steps_left() >= 0 and not is_deep:
            return True
        self.trace.limits.add("MAX_DEPTH" if is_deep else self.work.following.limit)
        return False

    def steps_left(self) -> int:
        """Steps for which calls are still followed; below zero, none are."""
        work = self.work
        return work.following.until + (work.more if work.following.grows else 0) - work.steps

    def reach(self, path: str, code: s.Function) -> None:
        """The body of a function is entered. The first time, there is more text that calls are followed for."""
        place, work = (path, code.at[0]), self.work
        self.trace.reached.add(place)
        self.trace.code.add(place)
        if place not in work.bodies:
            work.bodies.add(place)
            work.more += limits.STEPS_PER_NAME * len(code.names)

    @contextmanager
    def at_most(self, limit: str) -> Iterator[None]:
        """Calls inside are followed up to a limit of their own."""
        work, before = self.work, self.work.following
        most: int = getattr(limits, limit)
        if most < self.steps_left():
            work.following = Following(work.steps + most, limit)
        try:
            yield
        finally:
            work.following = before


def _is_for_older(condition: object, outcome: bool) -> bool:
    """Whether a branch is taken when something newer cannot be imported, or is not there."""
    if isinstance(condition, tuple) and condition[0] == "import fails":
        return outcome
    return _asks_for_version(condition)


def _asks_for_version(condition: object) -> bool:
    """Whether a condition looks at what a library has, and not at what an object of the program has."""
    match condition:
        case ("builtins.hasattr", ("library", _), *_):
            return True
        case tuple():
            return any(_asks_for_version(part) for part in condition)
    return isinstance(condition, str) and (
        condition == conditions.OF_VERSION or condition.endswith(("_version", "__version__", ".version"))
    )
