"""Runs a program's code on values of which little is known, and notes what happens in training.

Every statement is evaluated once: both ways of an undecided branch, a loop's body as one iteration of many,
a call of a function of the program as its body in place. Each kind of statement is in `statements`, each kind of
expression in `expressions`; what the code does to models, losses and optimizers is in `library`, what Python's own
functions do in `builtin`.
"""

from __future__ import annotations

import bisect
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from trainlint import limits
from trainlint.facts.api.attention import MIXES
from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.operations import ASKED_PLAINLY
from trainlint.facts.api.torch_names import is_like_requires_grad
from trainlint.facts.ask.asking import answered_by
from trainlint.facts.ask.attention import weights_in
from trainlint.facts.model.effort import OutOfSteps
from trainlint.facts.model.events.batches import PadIsEnd
from trainlint.facts.model.events.calls import AttributeSet, Called, SettingChanged
from trainlint.facts.model.events.event import Escape, Event
from trainlint.facts.model.events.operations import Attended, Operation
from trainlint.facts.model.events.steps import ZeroGrad
from trainlint.facts.model.exclusive import outcome_of
from trainlint.facts.model.nodes import Body, Branch, Node
from trainlint.facts.model.values import (
    Carried,
    Choice,
    Constant,
    Items,
    Object,
    Op,
    Table,
    Unknown,
    Value,
    alternatives,
    new_uid,
    one_of,
)
from trainlint.finding import Place
from trainlint.program.api import builtin, library, methods
from trainlint.program.evaluate import (
    attributes,
    blocks,
    calling,
    classes,
    conditions,
    containers,
    declared,
    expressions,
    lived,
    parameters,
    standing_in,
    statements,
)
from trainlint.program.evaluate.context import Context, Following, Frame, Inside, Work
from trainlint.program.evaluate.keys import INITIALISED
from trainlint.program.evaluate.signatures import raises_at_once
from trainlint.program.evaluate.store import Changes, Kept, Layer, Store
from trainlint.program.evaluate.sweeping import reachable
from trainlint.program.evaluate.uses import Trace
from trainlint.program.evaluate.values import (
    Arguments,
    Bound,
    ClassValue,
    Env,
    FileModule,
    FunctionValue,
    Imported,
    Library,
    Partial,
    Super,
)
from trainlint.program.incremental.project_files import Project
from trainlint.program.source import shape
from trainlint.program.source import syntax as s
from trainlint.program.source.keeping import keeps_what_it_makes


class Root(NamedTuple):
    """What happened from one entry point on, what was made, used, and changed that others had made."""

    nodes: list[Node]
    objects: list[Object]
    trace: Trace
    changes: Changes
    made: Layer
    """What the things that it made hold, if that is kept."""

    def release(self) -> None:
        """Forget what has happened: it has been judged."""
        self.nodes.clear()
        self.objects.clear()
        self.changes.clear()

    def lose(self) -> None:
        """Say nothing of what has happened: it is not all."""
        self.nodes.clear()
        self.objects.clear()
        self.trace.reached.clear()
        self.trace.limits.add("ENTRY_STEPS")


class Evaluator:
    """Evaluates roots (module bodies, functions) of one project over one store."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.store = Store()
        self.here = Context([])
        """What holds around the code at work."""
        self.work = Work.begun("PROGRAM_STEPS")
        """The entry point at work."""
        self.frames = self.work.frames
        """Its functions at work, the innermost last."""
        self.bodies: dict[str, Root] = {}
        """What happened in the body of each module that was evaluated."""
        self.contexts: dict[int, tuple[bool | None, tuple[Value, ...]]] = {}
        """What the program's own context managers have inside: whether autograd records, and regions of autocast."""
        self.varying: dict[Any, frozenset[int]] = {}
        """The loops in which conditions may change from one iteration to the next."""
        self.loop_numbers = itertools.count()
        self.uses = lived.Uses()
        self.roles = standing_in.Roles()
        self.annotations = declared.Annotations()
        self._modules: dict[str, Env] = {}
        self._running: list[str] = []
        """Files whose bodies are being evaluated, each because the one before needs it."""
        self.is_tangled = False
        """Whether a body has looked at a module whose own body was not done: the order of evaluation tells then."""
        self._owners: dict[int, str] = {}
        """Files of entry points, by the numbers that the store gives them."""
        self.tables: set[str] = set()
        """Dicts that any entry point has seen and has not made itself."""
        self._places: defaultdict[str, dict[s.Span, Place]] = defaultdict(dict)
        self._placed = 0
        """How many places there are."""
        self._labels: dict[int, str] = {}
        self.assigned_names: dict[int, frozenset[str]] = {}

    # Roots

    def module(self, path: str) -> Env:
        """The names of a module; its body is evaluated at the first call."""
        self.trace.uses.add(path)
        if path not in self._modules:
            self._running.append(path)
            try:
                self.bodies[path] = self.run_root(path, lambda: self._module_body(path), kept="by all")
            finally:
                self._running.pop()
        elif path in self._running[:-1]:
            self.is_tangled = True
        return self._modules[path]

    def sweep(self, path: str) -> None:
        """Forget what the body of a file has made that no other code can ask for."""
        body = self.bodies[path]
        module = self._modules[path]
        kept = reachable((module, *(one for one in body.changes if isinstance(one, Value))), body.made)
        self.store.sweep(body.made, kept)
        body.made.clear()

    def run_root(
        self,
        path: str,
        work: Callable[[], object],
        limit: str = "PROGRAM_STEPS",
        kept: Kept = "",
        on: Layer | None = None,
    ) -> Root:
        """Evaluate something in a file on its own, outside of all that is going on; what happened in it.

        What it makes is forgotten unless `kept`; what it does to things that others made is undone. Calls are followed
        up to a `limit`, by its name; beyond `limits.ENTRY_STEPS`, nothing has happened that anybody is told of. It sees
        what was kept apart if it works `on` that.
        """
        here, before = self.here, self.work
        self.here, self.work = Context([]), Work.begun(limit)
        self.frames = self.work.frames
        try:
            with self.store.root(kept, on) as left, answered_by(self.work.budget):
                self._owners[self.store.number] = path
                root = Root(self.nodes, self.objects, self.trace, left.changes, left.made)
                try:
                    work()
                except OutOfSteps:
                    root.lose()
                finally:
                    self.trace.limits.update(self.work.budget.gave_up)
                    for one in root.objects:
                        one.attributes = self.store.owned(one.uid)
            while self.store.filled:
                root.trace.fills.add(self._table(self.store.filled.pop()))
            return root
        finally:
            self.here, self.work, self.frames = here, before, before.frames

    def _module_body(self, path: str) -> None:
        self.trace.uses.add(path)
        self._modules[path] = self.new_env(path, None)
        self.frames.append(Frame(self._modules[path]))
        self.bodies[path] = Root(self.nodes, self.objects, self.trace, self.store.changes, {})
        blocks.block(self, self.project.modules[path].body)

    @contextmanager
    def module_frame(self, path: str) -> Iterator[None]:
        """Work as code of a module's own would."""
        self.frames.append(Frame(self.module(path)))
        try:
            yield
        finally:
            self.frames.pop()

    # What holds here

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
        return not self.loops and len(self.guards) <= made.branch

    def depth(self) -> int:
        """How many undecided conditions hold here."""
        return len(self.guards)

    def is_plainly_reached(self) -> bool:
        """Whether no undecided condition of the function at work stands around the code."""
        return len(self.guards) <= self.frames[-1].guards

    def is_method_of(self, value: Object) -> bool:
        """Whether the code at work is a method of this object's."""
        return self.frames[-1].receiver is value

    def forwarding(self) -> Object | None:
        """The module whose forward is at work, by itself or through what it calls."""
        for frame in reversed(self.frames):
            if frame.code is not None and frame.code.name == "forward" and isinstance(frame.receiver, Object):
                return frame.receiver if MODULE in frame.receiver.bases else None
        return None

    def guards_in_forward(self) -> tuple[conditions.Guard, ...]:
        """The undecided conditions that hold here and did not when the forward at work was called."""
        for frame in reversed(self.frames):
            if frame.code is not None and frame.code.name == "forward":
                return self.guards[frame.guards :]
        return ()

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

    # Places, scopes, events

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
    ) -> Op:
        """A value that an operation makes here and now."""
        made = Op(
            name=name,
            inputs=inputs,
            options=options or {},
            at=self.place(at),
            text=text,
            owner=owner,
            records=self.here.records,
            loops=self.here.loops,
            autocast=self.here.autocast,
        )
        if name in ASKED_PLAINLY:
            self.emit(Operation, at, output=made)
        elif name in MIXES and (weights := weights_in(made)) is not None:
            self.emit(Attended, at, weights=weights, output=made)
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
    ) -> None:
        """Write what two branches have left, and under which conditions beside their own."""
        self.copied(sum(map(len, then.values())) + sum(map(len, otherwise.values())))
        self.store.merge(guard, then, otherwise, then_also, otherwise_also)

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
            definition=definition,
            is_open=given.open,
        )
        self.objects.append(made)
        return made

    def label(self, node: s.Expr) -> str:
        found = self._labels.get(id(node))
        if found is None:
            found = self._labels[id(node)] = shape.label(node)
        return found

    # Names and attributes

    def lookup(self, name: str) -> Value:
        env: Env | None = self.env
        first = True
        while env is not None:
            if name in env.declared:
                env = env.declared[name]
            if first or not env.is_class:
                found = self.store.get((env.uid, name))
                if found is not None:
                    return self.settle(found)
            first = False
            env = env.parent
        if name in builtin.NAMES:
            return Library(name=f"builtins.{name}")
        missing = self.unknown(name)
        root = self.env
        while root.parent is not None:
            root = root.parent
        self.store.set((root.uid, name), missing)
        return missing

    def seen(self, value: Value) -> Value:
        """The same value; if it is a dict that others may have filled, that is noted."""
        if isinstance(value, (Table, Choice, Carried)):
            for one in alternatives(value):
                if isinstance(one, Table) and self.store.is_foreign(one.uid):
                    self.trace.tables.add(self._table(one))
                    self.tables |= self.trace.tables
        return value

    def unseen(self, node: s.Expr) -> Value:
        """The value of an expression, where it does not matter what it holds."""
        match node:
            case s.Name():
                self.spend()
                return self.lookup(node.name)
            case s.Attribute():
                self.spend()
                return expressions.attribute(self, node)
        return self.expr(node)

    def _table(self, value: Value) -> str:
        """A name for a dict that is the same in every run: its file and the name it has there, if it has one."""
        path = self._owners.get(self.store.root_of(value), "")
        held = self.store.owned(self._modules[path].uid) if path in self._modules else {}
        return f"{path} {next((name for name, one in held.items() if one is value), '')}"

    def bind(self, name: str, value: Value, env: Env | None = None) -> None:
        env = env or self.env
        env = env.declared.get(name, env)
        self.store.set((env.uid, name), value)

    def settle(self, value: Value) -> Value:
        """The same value with what is known of conditions and imports applied."""
        if not isinstance(value, (Imported, Choice)):
            return value
        if isinstance(value, Imported):
            return self.imported(value.path, value.name)
        if self.known:
            open_options = []
            for guards, option in value.options:
                if all(outcome_of(condition, self.known) in (None, wanted) for condition, wanted in guards):
                    open_options.append((guards, option))
            if len(open_options) == 1:
                return self.settle(open_options[0][1])
            if open_options and len(open_options) < len(value.options):
                return one_of(tuple(open_options))
        return value

    def imported(self, path: str, name: str, depth: int = 0) -> Value:
        """What `from path import name` gives."""
        env = self.module(path)
        found = self.store.get((env.uid, name))
        if isinstance(found, Imported) and depth < 10:
            return self.imported(found.path, found.name, depth + 1)
        if found is not None:
            return found
        inner = self.project.submodule(path, name)
        if inner is not None:
            return FileModule(path=inner)
        missing = self.unknown(name)
        self.store.set((env.uid, name), missing)
        return missing

    def attribute(self, value: Value, name: str, at: s.Span, text: str = "") -> Value:
        """`value.name`."""
        match value:
            case Library():  # `torch.torch` is torch
                return value if value.name == name == "torch" else Library(name=f"{value.name}.{name}")
            case FileModule():
                return self.settle(self.imported(value.path, name))
            case Choice():
                found = [
                    (guards, self.attribute(one, name, at, text))
                    for guards, one in value.options[: limits.MAX_OPTIONS_CALLED]
                ]
                return one_of(tuple(found))
            case ClassValue():
                return classes.class_attribute(self, value, name) or self._unknown_attribute(value, name)
            case Super():
                return classes.super_attribute(self, value, name)
            case Object():
                held = self.store.get((value.uid, name))
                if isinstance(held, Constant):
                    return lived.in_use(self, value, name, held)
                if held is not None:
                    return self.settle(held)
                return classes.object_attribute(self, value, name, at)
            case Carried():
                held = self.store.get((value.uid, name))
                if held is not None:
                    return held
                return self.attribute(value.start, name, at, text)
            case _:
                held = self.store.get((value.uid, name))
                if held is not None:
                    return self.settle(held)
                return attributes.value_attribute(self, value, name, at, text)

    def is_read(self, name: str) -> bool:
        """Whether any code of the program reads an attribute of this name."""
        self.trace.asked.add(name)
        return name in self.project.reads

    def _unknown_attribute(self, value: Value, name: str) -> Value:
        missing = Unknown(text=name, loops=())
        self.store.set((value.uid, name), missing)
        return missing

    def set_attribute(
        self, target: Value, name: str, value: Value, at: s.Span, is_certain: bool = True
    ) -> None:
        """`target.name = value`, where the target certainly is this value, or may be."""
        if isinstance(target, Choice):
            for _, one in target.options:
                self.set_attribute(one, name, value, at, is_certain=False)
            return
        if isinstance(value, Constant) and self.loops:  # a value of its own, for when it was set matters
            value = Constant(value=value.value, at=value.at, is_default=value.is_default)
        is_layer = isinstance(target, Object) and MODULE in target.bases and target.definition is None
        is_misspelt = is_like_requires_grad(name) and not self.is_read(name)
        if is_misspelt or (is_layer and is_certain and name == "requires_grad"):
            self.emit(AttributeSet, at, target=target, name=name)
        if name in ("pad_token", "pad_token_id") and attributes.is_end_token(value):
            self.emit(PadIsEnd, at, tokenizer=target)
        if name == "grad" and isinstance(value, Constant) and value.value is None:
            self.emit(ZeroGrad, at, target=attributes.holder_of(target))
        elif name == "requires_grad":
            attributes.set_requires_grad(self, target, value, at, assignment=True)
        elif isinstance(target, Op):
            if name in ("transform", "transforms"):
                self.emit(SettingChanged, at, name=name, value=value)
            if name in attributes.GRADIENT_FUNCTIONS:
                self.store.touch(target)
                target.hung_on = value
            attributes.written_by_hand(self, target, name, at)
        elif isinstance(target, Object):
            classes.note_registration(self, target, name, value, at)
            containers.note_part(self, target, name, value)
        elif isinstance(target, Library):
            self.emit(SettingChanged, at, name=f"{target.name}.{name}", value=value)
        if isinstance(target, FileModule):
            self.bind(name, value, self.module(target.path))
        else:
            self.store.set((target.uid, name), value)

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
        if self.work.steps <= self.work.following.until and not is_deep:
            return True
        self.trace.limits.add("MAX_DEPTH" if is_deep else self.work.following.limit)
        return False

    @contextmanager
    def at_most(self, limit: str) -> Iterator[None]:
        """Calls inside are followed up to a limit of their own."""
        work, before = self.work, self.work.following
        work.following = min(before, Following(work.steps + getattr(limits, limit), limit))
        try:
            yield
        finally:
            work.following = before

    # Statements, expressions and calls

    def do(self, node: s.Statement) -> blocks.Signal:
        self.spend()
        do = statements.DO.get(type(node))
        return do(self, node) if do is not None else None

    def expr(self, node: s.Expr) -> Value:
        self.spend()
        return expressions.EVALUATE[type(node)](self, node)

    def call(self, func: Value, given: Arguments, at: s.Span, text: str) -> Value:
        """`func(...)`, whatever it is."""
        match func:
            case FunctionValue(owner=ClassValue(), kind="function") if given.args:
                return self.call_function(func, given, at, given.args[0])
            case FunctionValue():
                return self.call_function(func, given, at)
            case ClassValue():
                return classes.instantiate(self, func, given, at)
            case Bound(function=FunctionValue() as function):
                if func.name == "forward" and text.endswith(".forward(…)"):
                    return calling.call_forward(self, func.receiver, function, given, at, text)
                return self.call_function(function, _with_receiver(func.receiver, given), at, func.receiver)
            case Bound():
                return methods.call_method(self, func.receiver, func.name, given, at, text)
            case Library():
                if func.name.startswith("builtins."):
                    return builtin.call(self, func.name[9:], given, at, text)
                return library.call_name(self, func.name, given, at, text)
            case Object():
                return calling.call_object(self, func, given, at, text)
            case Partial():
                merged = Arguments((*func.args, *given.args), {**func.options, **given.options}, given.open)
                return self.call(func.function, merged, at, text)
            case Choice():
                return self._call_choice(func, given, at, text)
            case Carried():
                return self.call(func.start, given, at, text)
            case _:
                return library.call_unknown(self, func, given, at, text)

    def _call_choice(self, func: Choice, given: Arguments, at: s.Span, text: str) -> Value:
        results = []
        for guards, one in func.options[: limits.MAX_OPTIONS_CALLED]:
            condition = guards[-1][0] if guards else None
            branch = Branch(condition, tuple(sorted(self.varying.get(condition, ()))))
            nodes = branch.then if not guards or guards[-1][1] else branch.otherwise
            known = {**self.known, **dict(guards)}
            with self.inside(nodes=nodes, guards=(*self.guards, *guards), known=known):
                results.append((guards, self.call(one, self._settled(given), at, text)))
            for node in nodes:
                if isinstance(node, Called):
                    node.is_chosen = True
            self.nodes.append(branch)
        return results[0][1] if len(results) == 1 else one_of(tuple(results))

    def _settled(self, given: Arguments) -> Arguments:
        """The same arguments with what is now known of conditions applied."""
        options = {name: self.settle(one) for name, one in given.options.items()}
        return Arguments(tuple(self.settle(one) for one in given.args), options, given.open)

    def call_function(
        self, func: FunctionValue, given: Arguments, at: s.Span, receiver: Value | None = None
    ) -> Value:
        """A function of the program: its body, here and now. Beyond the limits, an unknown result."""
        is_constructor = func.origin.code.name == "__init__"
        if self.work.active.get(_at_work(func), 0) >= limits.MAX_SAME_FUNCTION or not self.follows():
            if is_constructor and given.args:
                self.store.set((given.args[0].uid, INITIALISED), Constant(value=True))
            self.emit(Escape, at, values=given.all())
            return self.op("call", given.all(), at, func.code.name + "(…)")
        if raises_at_once(func, given):  # what follows in the program does not happen, or is caught
            self.emit(Escape, at, values=given.all())
            return self.op("call", given.all(), at, func.code.name + "(…)")
        if not is_constructor and self.project.is_library_code(func.env.path, self.env.path):
            owner = receiver if isinstance(receiver, Object) else None
            return self.op("framework", given.all(), at, func.code.name + "(…)", owner=owner)
        self.trace.reached.add((func.env.path, func.code.at[0]))
        self.trace.code.add((func.env.path, func.code.at[0]))
        frame = Frame(
            self.new_env(func.env.path, func.env),
            func.code,
            func.owner,
            receiver,
            guards=len(self.guards),
            loops=self.loops,
        )
        body = Body()
        signal = self._run(func, frame, body, given, self.place(at) if self.frames else None)
        if body.body:
            self.nodes.append(body)
        if func.code.is_generator:
            exact = frame.yields_plainly and signal is None and not func.is_context
            made = Items(items=frame.yields, exact=exact, kind="generator")
            if func.is_context:
                regions = frame.yield_autocast[len(self.here.autocast) :]
                self.contexts[made.uid] = (frame.yield_records, regions)
            return made
        if signal is None and frame.returns and func.code.name != "<lambda>":
            frame.returns.append((tuple(self.guards[frame.guards :]), Constant(value=None)))
        return declared.instead(self, func.code.returns, func.env, _returned(frame.returns))

    def _run(
        self, func: FunctionValue, frame: Frame, body: Body, given: Arguments, call: Place | None
    ) -> blocks.Signal:
        """The body of a function in a frame of its own; how it was left."""
        here, active, code = self.here, self.work.active, _at_work(func)
        active[code] = active.get(code, 0) + 1
        self.frames.append(frame)
        try:
            with self.inside(
                nodes=body.body,
                records=here.records if func.records is True else func.records,
                autocast=here.autocast + func.autocast,
                calls=here.calls if call is None else (*here.calls, call),
            ):
                parameters.bind_parameters(self, func, given)
                return blocks.block(self, func.code.body)
        finally:
            self.frames.pop()
            self.leave(frame.env)
            active[code] -= 1


def _at_work(func: FunctionValue) -> tuple[int, int]:
    """What tells a function that is at work from others: one decorator makes the same of all that it decorates."""
    return id(func.code), id(func.origin.code)


def _returned(returns: list[tuple[tuple[conditions.Guard, ...], Value]]) -> Value:
    if not returns:
        return Constant(value=None)
    first = returns[0][1]
    if all(value is first for _, value in returns):
        return first
    return one_of(tuple(returns))


def _with_receiver(receiver: Value, given: Arguments) -> Arguments:
    return Arguments((receiver, *given.args), given.options, given.open)


def _is_for_older(condition: object, outcome: bool) -> bool:
    """Whether a branch is taken when something newer cannot be imported, or is not there."""
    if isinstance(condition, tuple) and condition[0] == "import fails":
        return outcome
    return _asks_for_version(condition)


def _asks_for_version(condition: object) -> bool:
    """Whether a condition looks at what a library has."""
    if isinstance(condition, tuple):
        return any(_asks_for_version(part) for part in condition)
    return isinstance(condition, str) and (
        condition == "builtins.hasattr" or condition.endswith(("_version", "__version__", ".version"))
    )
