"""Values and events that the evaluated code makes, with their places in the source."""

from __future__ import annotations

import bisect
from collections import defaultdict
from typing import Any

from trainlint import limits
from trainlint.facts.api.attention import MIXES
from trainlint.facts.api.operations import ASKED_PLAINLY
from trainlint.facts.ask.attention import weights_in, weights_summed
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.operations import Attended, Operation, Pooled
from trainlint.facts.model.values import Object, Op, Unknown, Value, alternatives, new_uid
from trainlint.finding import Place
from trainlint.program.evaluate import conditions
from trainlint.program.evaluate.here import Here
from trainlint.program.evaluate.store import Layer, Store
from trainlint.program.evaluate.values import Arguments, Env
from trainlint.program.incremental.project_files import Project
from trainlint.program.source import shape
from trainlint.program.source import syntax as s


class Making(Here):
    """Makes scopes, values and events where the evaluated code stands, and keeps them in one store."""

    def __init__(self, project: Project) -> None:
        super().__init__()
        self.project = project
        self.store = Store()
        self._places: defaultdict[str, dict[s.Span, Place]] = defaultdict(dict)
        self._placed = 0
        """How many places there are."""
        self._labels: dict[int, str] = {}

    @property
    def env(self) -> Env:
        return self.frames[-1].env

    def new_env(self, path: str, parent: Env | None, is_class: bool = False) -> Env:
        return Env(new_uid(), path, parent, is_class)

    def leave(self, env: Env) -> None:
        """The code of a scope is done: its names are forgotten, unless others may ask for them."""
        if not env.is_kept:
            self.store.forget(env.uid)

    def place(self, at: s.Span, path: str | None = None) -> Place:
        """The lines and columns of a span."""
        path = path or self.frames[-1].env.path
        places = self._places[path]
        found = places.get(at)
        if found is None:
            self._placed += 1
            if self._placed > limits.PLACES:
                self._placed = 0
                self._places.clear()
                places = self._places[path]
            lines = self.project.modules[path].lines
            first = bisect.bisect_right(lines, at[0]) - 1
            last = bisect.bisect_right(lines, max(at[1] - 1, at[0])) - 1
            found = Place(path, first + 1, at[0] - lines[first] + 1, last + 1, at[1] - lines[last] + 1)
            places[at] = found
        return found

    def emit(self, kind: type[Event], at: s.Span, **facts: Any) -> None:
        """Note an event here and now."""
        self.nodes.append(
            kind(
                at=self.place(at),
                calls=self.here.calls,
                loops=self.here.loops,
                guards=self.here.guards,
                autocast=self.here.autocast,
                regions=self.here.regions,
                **facts,
            )
        )

    def op(
        self,
        name: str,
        inputs: tuple[Value, ...],
        at: s.Span,
        text: str = "",
        options: dict[str, Value] | None = None,
        owner: Object | None = None,
        drawn: Value | None = None,
    ) -> Op:
        """A value that an operation makes here and now."""
        made = Op(
            name=name,
            inputs=inputs,
            options=options or {},
            at=self.place(at),
            text=text,
            owner=owner,
            drawn=drawn,
            records=self.here.records,
            loops=self.here.loops,
            autocast=self.here.autocast,
        )
        if name in ASKED_PLAINLY:
            self.emit(Operation, at, output=made)
        elif name in MIXES and (weights := weights_in(made)) is not None:
            self.emit(Attended, at, weights=weights, output=made)
        elif name == "sum" and (weights := weights_summed(made)) is not None:
            self.emit(Pooled, at, weights=weights, output=made)
        return made

    def looked_up(
        self, name: str, value: Value, at: s.Span, text: str = "", options: dict[str, Value] | None = None
    ) -> Op:
        """What is read out of a value by a name: no operation on tensors, so it has its graph even where none is recorded."""
        made = self.op(name, (value,), at, text, options)
        made.records = all(not isinstance(one, Op) or one.records for one in alternatives(value))
        return made

    def write(self, target: Op, made: Op) -> None:
        """An operation writes into a tensor that was made before, and into what it shares its memory with."""
        holder: Value | None = target
        while isinstance(holder, Op):
            self.store.touch(holder)
            holder.written = (*holder.written, made)
            holder = holder.inputs[0] if holder.name in ("data", "detach") and holder.inputs else None

    def merge(
        self,
        guard: conditions.Guard | None,
        then: Layer,
        otherwise: Layer,
        then_also: tuple[conditions.Guard, ...] = (),
        otherwise_also: tuple[conditions.Guard, ...] = (),
        is_elif: bool = False,
    ) -> None:
        """Write what two branches have left, and under which conditions beside their own."""
        self.copied(sum(map(len, then.values())) + sum(map(len, otherwise.values())))
        self.store.merge(guard, then, otherwise, then_also, otherwise_also, is_elif)

    def unknown(self, text: str = "") -> Unknown:
        return Unknown(text=text, loops=self.loops)

    def object(
        self, type: str, bases: frozenset[str], at: s.Span, given: Arguments, definition: Any = None
    ) -> Object:
        """A new instance, made here and now."""
        made = Object(
            type=type,
            bases=bases,
            at=self.place(at),
            args=given.args,
            options=given.options,
            loops=self.loops,
            calls=self.here.calls,
            definition=definition,
            is_open=given.open,
        )
        self.objects.append(made)
        return made

    def forget_labels(self) -> None:
        self._labels.clear()

    def label(self, node: s.Expr) -> str:
        found = self._labels.get(id(node))
        if found is None:
            found = self._labels[id(node)] = shape.label(node)
        return found
