"""What holds around the evaluated code, and what an entry point is worked on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from trainlint import limits
from trainlint.facts.ask.asking import Answers
from trainlint.facts.model.nodes import Node
from trainlint.facts.model.values import Constant, Object, Value
from trainlint.finding import Place
from trainlint.program.evaluate.conditions import Guard
from trainlint.program.evaluate.uses import Code, Trace
from trainlint.program.evaluate.values import ClassValue, Env
from trainlint.program.source import syntax as s


class Context(NamedTuple):
    """What holds around the evaluated code. It is replaced, never changed: see `Inside`."""

    nodes: list[Node]
    """Where events go."""
    records: bool | None = True
    """Whether autograd records; None where that is unknown."""
    autocast: tuple[Value, ...] = ()
    """The regions of autocast, or what may be one."""
    regions: tuple[Value, ...] = ()
    """The regions of frameworks, or what may be one."""
    loops: tuple[int, ...] = ()
    calls: tuple[Place, ...] = ()
    known: Mapping[Any, bool] = MappingProxyType({})
    """Conditions, and how they turned out."""
    guards: tuple[Guard, ...] = ()
    """The undecided ones among them, outermost first."""
    asking: int = 0
    """How many tests of a version stand around it."""
    forwards: int = 0
    """How many forwards of modules are running."""
    unrolled: int = 1
    """How often it is gone through for loops that are followed item by item."""


class Holder(Protocol):
    """What knows what holds here."""

    here: Context


class Inside:
    """Something else holds for what is done inside: the fields that are changed, and those that are to be `kept`, are
    afterwards what they were. Of the others, what is done inside decides."""

    __slots__ = ("_before", "_changed", "_changes", "_holder", "_kept")

    def __init__(self, holder: Holder, kept: tuple[str, ...], changes: dict[str, Any]) -> None:
        self._holder = holder
        self._kept = kept
        self._changes = changes

    def __enter__(self) -> None:
        self._before = self._holder.here
        self._changed = self._before._replace(**self._changes) if self._changes else self._before
        self._holder.here = self._changed

    def __exit__(self, *raised: object) -> None:
        now, before = self._holder.here, self._before
        if now is not self._changed:
            before = now._replace(**{name: getattr(before, name) for name in (*self._kept, *self._changes)})
        self._holder.here = before


@dataclass
class Frame:
    """A running function."""

    env: Env
    code: s.Function | None = None
    owner: ClassValue | None = None
    receiver: Value | None = None
    returns: list[tuple[tuple[Guard, ...], Value]] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    yields_plainly: bool = True
    """Whether it certainly yields each of them, and once."""
    paused: dict[int, tuple[list[Node], int]] = field(default_factory=dict)
    """Where it yields outside of loops of its own: how many of the nodes came before, by the number of their list."""
    yield_records: bool | None = True
    yield_autocast: tuple[Value, ...] = ()
    guards: int = 0
    """How many guards there were when it was called."""
    loops: tuple[int, ...] = ()
    """The loops in which it was called."""
    trying: int = 0
    """How many blocks that wait for an exception the evaluated code stands in."""
    casts: bool = False
    """Whether it has had a region of autocast of its own."""
    wrapper: Constant | None = None
    """The prefix of the keys of what it returns, where that is a wrapper of a module."""


class Following(NamedTuple):
    """After how many steps calls are not followed any more, and the limit that says so, by its name."""

    until: int
    limit: str
    grows: bool = False
    """Whether there are more of them for each function that is reached."""

    @staticmethod
    def for_all(limit: str) -> Following:
        return Following(getattr(limits, limit), limit, grows=True)


@dataclass
class Work:
    """The present entry point: what has come about, and what that took."""

    following: Following
    """How many steps calls are followed for."""
    budget: Answers
    """What counts the steps of all kinds."""
    objects: list[Object] = field(default_factory=list)
    trace: Trace = field(default_factory=Trace)
    """What it has used."""
    frames: list[Frame] = field(default_factory=list)
    active: dict[tuple[int, int], int] = field(default_factory=dict)
    """How often each function is running."""
    switching: dict[tuple[str, s.Span], bool] = field(default_factory=dict)
    """Whether functions that were left out may switch a mode, by where they stand."""
    steps: int = 0
    """Statements and expressions that were evaluated."""
    bodies: set[Code] = field(default_factory=set)
    """Functions whose bodies were entered."""
    more: int = 0
    """Steps that these are followed for, beside those of the limit."""

    @staticmethod
    def begun(limit: str) -> Work:
        """A new one, in which calls are followed up to a limit, by its name."""
        budget = Answers(changing=True)
        budget.most = limits.ENTRY_STEPS
        return Work(Following.for_all(limit), budget)
