"""A training step that was recorded in a run: the same events and values, in the order that happened, with numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.nodes import Loop
from trainlint.facts.model.training import Training
from trainlint.facts.seen.endings import Ending
from trainlint.facts.seen.gradients import Remains
from trainlint.facts.seen.loaders import LoaderSeen
from trainlint.facts.seen.optimizers import OptimizerSeen
from trainlint.facts.seen.raised import Failure
from trainlint.facts.seen.ranks import Rank
from trainlint.finding import Open, Place

E = TypeVar("E", bound=Event)
F = TypeVar("F")


@dataclass(eq=False)
class Recorded(Training):
    """What one process of a program did until its recording ended.

    Args:
        seen: facts that only a run can show, in the words of `trainlint.facts.seen`.
        heads: where each loop begins, by number.
        remains: for each optimizer that stepped twice, what was left of the gradients of its first step at the
            second.
        lines: every line of the program that was seen to run.
        files: every file of the program that was imported.
        ending: how the recording ended.
        later: the phases after this one, each with optimizers of its own.
    """

    seen: tuple[Any, ...] = ()
    heads: dict[int, Place] = field(default_factory=dict)
    remains: tuple[Remains, ...] = ()
    lines: frozenset[tuple[str, int]] = frozenset()
    files: frozenset[str] = frozenset()
    ending: Ending = field(default_factory=lambda: Ending("finished", 0, 0, 0))
    rank: Rank = field(default_factory=Rank)
    torch: str = ""
    argv: tuple[str, ...] = ()
    later: tuple[Recorded, ...] = ()

    @property
    def phases(self) -> tuple[Recorded, ...]:
        """This phase and the later ones."""
        return (self, *self.later)

    @property
    def ended(self) -> Ending:
        """How the last of its phases ended."""
        return self.phases[-1].ending

    def extended(self, seen: Iterable[Any]) -> Recorded:
        """The same, with more that was seen of the last of its phases."""
        *before, last = self.phases
        first, *later = (*before, replace(last, seen=(*last.seen, *seen), later=()))
        return replace(first, later=tuple(later))

    def facts(self, kind: type[F]) -> list[F]:
        return [*self._seen_of(kind), *super().facts(kind)]

    def _seen_of(self, kind: type[F]) -> list[F]:
        """What was seen of one kind, in order. Rules ask this so often that going through everything would take long."""
        matching = [held for type_, held in self._seen_by_type.items() if issubclass(type_, kind)]
        if len(matching) < 2:
            return matching[0] if matching else []
        return [one for one in self.seen if isinstance(one, kind)]

    @cached_property
    def _seen_by_type(self) -> dict[type, list[Any]]:
        found: dict[type, list[Any]] = {}
        for one in self.seen:
            found.setdefault(type(one), []).append(one)
        return found

    @property
    def fatal(self) -> Failure | None:
        """The operation whose failure ended the program, or which kept it from ever taking a step."""
        last = next(iter(self.facts(Failure)[::-1]), None)
        if last is None:
            return None
        if self.ending.how == "failed":
            return last if last.message.strip().partition("\n")[0].strip() in self.ending.error else None
        never = self.ending.how == "finished" and not self.ending.trained
        return last if never else None

    @cached_property
    def loops(self) -> dict[int, Loop]:
        return {number: Loop(number, at) for number, at in self.heads.items()}

    @property
    def leaves_steps_out(self) -> bool:
        """Whether it ended before an optimizer could step, or a scaler left its steps out."""
        is_cut_short = self.ending.how in ("failed", "interrupted", "exited")
        return is_cut_short or any(one.skipped for one in self.facts(OptimizerSeen))

    def was_cleared(self, step: OptimizerStep) -> bool | Open:
        known = self._remains(step)
        if known is None:
            return Open(step.at, "whether the gradients are cleared before a second step")
        return known.cleared

    def repeating_loop(self, drawn: Drawn) -> Place | Open | None:
        known = next((one for one in self.facts(LoaderSeen) if one.loader is drawn.loader), None)
        if known is None or known.rounds < 2:
            return Open(drawn.loader.at or drawn.at, "whether this loader is gone through again")
        return self.loops[drawn.loops[-1]].at if drawn.loops else drawn.at

    def left_over(self, step: OptimizerStep) -> dict[str, float | str]:
        known = self._remains(step)
        return known.numbers if known is not None else {}

    def each_time(self, event: Event, others: list[E]) -> dict[str, float | str] | None:
        times = sum(one.at == event.at for one in self.events(type(event)))
        if len(others) < 2 or times < len(others):
            return None
        return {"in each of the last": f"{len(others)} {type(others[0]).__name__.lower()}s"}

    def _remains(self, event: OptimizerStep) -> Remains | None:
        return next((one for one in self.remains if one.optimizer is event.optimizer), None)
