"""Runs a program's code on values of which little is known, and notes what happens in training.

Every statement is evaluated once: both ways of an undecided branch, a loop's body as one round of many,
a call of a function of the program as its body in place. What the code does to models, losses and
optimizers is in `library`; what Python's own functions do is in `builtin`.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from trainlint.facts.events import Accumulated, Body, Branch, Event, Exit, Loop, Node, ZeroGrad
from trainlint.facts.values import (
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
    one_of,
)
from trainlint.finding import Place
from trainlint.program import builtin, classes, conditions, library
from trainlint.program import syntax as s
from trainlint.program.project import Project
from trainlint.program.store import Layer, Store
from trainlint.program.values import (
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

PROGRAM_STEPS = 12_000
PART_STEPS = 5_000
"""How many statements and expressions a module's body, and any other entry point, may cost."""
MAX_DEPTH = 40
MAX_SAME_FUNCTION = 2
MAX_UNROLLED = 12

Signal = str | None
"""How a block ends: None falls through; "return", "break", "continue" and "raise" do not."""


@dataclass
class Frame:
    """A function at work."""

    env: Env
    code: s.Function | None = None
    owner: ClassValue | None = None
    receiver: Value | None = None
    returns: list[tuple[tuple[conditions.Guard, ...], Value]] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    yield_records: bool | None = True
    guards: int = 0
    """How many guards there were when it was called."""


class Root(NamedTuple):
    """What happened from one entry point on, and what was made."""

    nodes: list[Node]
    objects: list[Object]


class Evaluator:
    """Evaluates roots (module bodies, functions) of one project over one store."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.store = Store()
        self.objects: list[Object] = []
        self.reached: set[int] = set()
        """`id` of the code of every function that has been evaluated."""
        self.roots: dict[str, Root] = {}
        """What happened in the body of each module that was evaluated."""
        self.records: bool | None = True
        self.loops: tuple[int, ...] = ()
        self.calls: tuple[Place, ...] = ()
        self.known: dict[Any, bool] = {}
        self.frames: list[Frame] = []
        self.forwards = 0
        self.contexts: dict[int, bool | None] = {}
        self._guards: list[conditions.Guard] = []
        self._nodes: list[Node] = []
        self._asking = 0
        """How many tests of a version stand around the code at work."""
        self._numbers = itertools.count()
        self._env_numbers = itertools.count(-1, -1)
        self._modules: dict[str, Env] = {}
        self._running: list[str] = []
        self._active: dict[int, int] = {}
        self._steps = 0
        self._places: dict[tuple[str, s.Span], Place] = {}
        self._labels: dict[int, str] = {}
        self._assigned: dict[int, frozenset[str]] = {}

    # Roots

    def module(self, path: str) -> Env:
        """The names of a module; its body is evaluated at the first call."""
        if path not in self._modules:
            env = self._env(path, None)
            self._modules[path] = env
            with self.store.at_base():
                self.run_root(lambda: self._module_body(path, env))
        return self._modules[path]

    def run_root(self, work: Callable[[], object], steps: int = PROGRAM_STEPS) -> Root:
        """Evaluate something on its own, outside of all that is going on; what happened in it."""
        outer = (self.records, self.loops, self.calls, self.known, self._guards, self._nodes, self._steps)
        frames, forwards, objects = self.frames, self.forwards, self.objects
        self.records, self.loops, self.calls, self.known, self._guards = True, (), (), {}, []
        self._nodes, self._steps, self.frames, self.forwards = [], PROGRAM_STEPS - steps, [], 0
        self.objects = []
        try:
            work()
            return Root(self._nodes, self.objects)
        finally:
            self.records, self.loops, self.calls, self.known, self._guards, self._nodes, self._steps = outer
            self.frames, self.forwards, self.objects = frames, forwards, objects

    def _module_body(self, path: str, env: Env) -> None:
        self.frames.append(Frame(env))
        self.roots[path] = Root(self._nodes, self.objects)
        self.block(self.project.modules[path].body)

    @contextmanager
    def module_frame(self, path: str) -> Iterator[None]:
        """Work as code of a module's own would."""
        self.frames.append(Frame(self.module(path)))
        try:
            yield
        finally:
            self.frames.pop()

    def guards_here(self) -> tuple[conditions.Guard, ...]:
        """The undecided conditions that hold here, outermost first."""
        return tuple(self._guards)

    def certainly_once(self, made: Items) -> bool:
        """Whether what happens here happens exactly once for a list that was made earlier."""
        return not self.loops and len(self._guards) <= made.branch

    def depth(self) -> int:
        """How many undecided conditions hold here."""
        return len(self._guards)

    def is_method_of(self, value: Object) -> bool:
        """Whether the code at work is a method of this object's."""
        return self.frames[-1].receiver is value

    def in_fallback(self) -> bool:
        """Whether the program only comes here when something newer is missing."""
        return self._asking > 0 or any(_is_for_older(*guard) for guard in self._guards)

    # Places, scopes, events

    @property
    def env(self) -> Env:
        return self.frames[-1].env

    def _env(self, path: str, parent: Env | None, is_class: bool = False) -> Env:
        return Env(next(self._env_numbers), path, parent, is_class)

    def place(self, at: s.Span, path: str | None = None) -> Place:
        """The lines and columns of a span."""
        path = path or self.env.path
        found = self._places.get((path, at))
        if found is None:
            lines = self.project.modules[path].lines
            first = bisect.bisect_right(lines, at[0]) - 1
            last = bisect.bisect_right(lines, max(at[1] - 1, at[0])) - 1
            found = Place(path, first + 1, at[0] - lines[first] + 1, last + 1, at[1] - lines[last] + 1)
            self._places[path, at] = found
        return found

    def emit(self, kind: type[Event], at: s.Span, **facts: Any) -> None:
        """Note an event here and now."""
        self._nodes.append(
            kind(at=self.place(at), calls=self.calls, loops=self.loops, guards=tuple(self._guards), **facts)
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
        return Op(
            name=name,
            inputs=inputs,
            options=options or {},
            at=self.place(at),
            text=text,
            owner=owner,
            records=self.records,
            loops=self.loops,
        )

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

    def _label(self, node: s.Expr) -> str:
        found = self._labels.get(id(node))
        if found is None:
            found = self._labels[id(node)] = label(node)
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

    def bind(self, name: str, value: Value, env: Env | None = None) -> None:
        env = env or self.env
        env = env.declared.get(name, env)
        self.store.set((env.uid, name), value)

    def settle(self, value: Value) -> Value:
        """The same value with what is known of conditions and imports applied."""
        if isinstance(value, Imported):
            return self.imported(value.path, value.name)
        if isinstance(value, Choice) and self.known:
            open_options = []
            for guards, option in value.options:
                if not any(self.known.get(condition, outcome) != outcome for condition, outcome in guards):
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
            case Library():
                return Library(name=f"{value.name}.{name}")
            case FileModule():
                return self.settle(self.imported(value.path, name))
            case Choice():
                found = [(guards, self.attribute(one, name, at, text)) for guards, one in value.options[:6]]
                return one_of(tuple(found))
            case ClassValue():
                return classes.class_attribute(self, value, name) or self._unknown_attribute(value, name)
            case Super():
                return classes.super_attribute(self, value, name)
            case Object():
                held = self.store.get((value.uid, name))
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
                return library.value_attribute(self, value, name, at, text)

    def _unknown_attribute(self, value: Value, name: str) -> Value:
        missing = Unknown(text=name, loops=())
        self.store.set((value.uid, name), missing)
        return missing

    def set_attribute(self, target: Value, name: str, value: Value, at: s.Span) -> None:
        """`target.name = value`."""
        if isinstance(target, Choice):
            for _, one in target.options:
                self.set_attribute(one, name, value, at)
            return
        if name == "grad" and isinstance(value, Constant) and value.value is None:
            self.emit(ZeroGrad, at, target=library.holder_of(target))
        elif name == "requires_grad":
            library.set_requires_grad(self, target, value, at, assignment=True)
        elif isinstance(target, Op):
            if name in library.GRADIENT_FUNCTIONS:
                target.reattached = True
            library.written_by_hand(self, target, name, at)
        elif isinstance(target, Object):
            classes.note_registration(self, target, name, value, at)
        if isinstance(target, FileModule):
            self.bind(name, value, self.module(target.path))
        else:
            self.store.set((target.uid, name), value)

    # Statements

    def block(self, statements: s.Block) -> Signal:
        known, guards = self.known, len(self._guards)
        try:
            for statement in statements:
                signal = self._statement(statement)
                if signal is not None:
                    return signal
            return None
        finally:
            self.known = known
            del self._guards[guards:]

    def _statement(self, node: s.Statement) -> Signal:
        self._steps += 1
        match node:
            case s.Evaluate():
                self.expr(node.value)
            case s.Assign():
                self._assign(node)
            case s.AugmentedAssign():
                self._augmented(node)
            case s.Return():
                value = self.expr(node.value) if node.value is not None else Constant(value=None)
                frame = self.frames[-1]
                frame.returns.append((tuple(self._guards[frame.guards :]), value))
                self._nodes.append(Exit("return"))
                return "return"
            case s.If():
                return self._if(node)
            case s.For():
                return self._for(node)
            case s.While():
                return self._while(node)
            case s.With():
                return self._with(node)
            case s.Function():
                self.bind(node.name, classes.define_function(self, node))
            case s.Class():
                self.bind(node.name, classes.define_class(self, node))
            case s.Import():
                self._import(node)
            case s.ImportFrom():
                self._import_from(node)
            case s.Try():
                return self._try(node)
            case s.Raise():
                if node.value is not None:
                    self.expr(node.value)
                self._nodes.append(Exit("raise"))
                return "raise"
            case s.Jump():
                self._nodes.append(Exit(node.kind))
                return node.kind
            case s.Match():
                return self._match(node)
            case s.Scope():
                self._scope(node)
            case s.Delete():
                pass
        return None

    def _assign(self, node: s.Assign) -> None:
        if node.value is None:
            return
        value = self.expr(node.value)
        for target in node.targets:
            self._note_running_sum(target, node.value, value)
            self.assign(target, value)

    def _note_running_sum(self, target: s.Expr, expr: s.Expr, value: Value) -> None:
        """`total = total + loss` in a loop."""
        if not self.loops or not isinstance(expr, s.Operation) or expr.operator != "+":
            return
        if not isinstance(value, Op) or len(value.inputs) != 2 or label(target) != label(expr.operands[0]):
            return
        before, added = value.inputs
        if isinstance(target, s.Attribute) or (
            isinstance(target, s.Subscript) and isinstance(target.index, s.Constant)
        ):
            self.emit(Accumulated, expr.at, total=label(target), value=added, result=value)
        elif isinstance(target, s.Name) and self._carried(before):
            self.emit(Accumulated, expr.at, total=target.name, value=added, result=value)

    def _carried(self, value: Value | None) -> bool:
        """Whether a value came into the present loop from before it."""
        return isinstance(value, Carried) and value.loop in self.loops

    def assign(self, target: s.Expr, value: Value) -> None:
        match target:
            case s.Name():
                self.bind(target.name, value)
            case s.Attribute():
                self.set_attribute(self.expr(target.value), target.name, value, target.at)
            case s.Subscript():
                container = self.expr(target.value)
                builtin.store_item(self, container, self.expr(target.index), value, target.at)
            case s.Collection():
                for item, part in zip(target.items, self._unpacked(target, value), strict=False):
                    if isinstance(item, s.Starred):
                        item = item.value
                    self.assign(item, part)
            case s.Starred():
                self.assign(target.value, value)

    def _unpacked(self, target: s.Collection, value: Value) -> list[Value]:
        """As many values as a tuple of targets needs."""
        count = len(target.items)
        if isinstance(value, Choice):
            fitting = [
                one for one in value.options if isinstance(one[1], Items) and len(one[1].items) == count
            ]
            value = one_of(fitting) if fitting else value
        starred = next((i for i, item in enumerate(target.items) if isinstance(item, s.Starred)), None)
        if isinstance(value, Items) and value.exact and starred is not None and len(value.items) >= count - 1:
            after = count - starred - 1
            middle = value.items[starred : len(value.items) - after]
            return [
                *value.items[:starred],
                Items(items=list(middle)),
                *value.items[len(value.items) - after :],
            ]
        return [
            self.settle(builtin.item(self, value, Constant(value=number), target.at))
            for number in range(count)
        ]

    def _augmented(self, node: s.AugmentedAssign) -> None:
        before = self.expr(node.target)
        value = self.expr(node.value)
        if isinstance(before, Items) and node.operator == "+":
            builtin.extend(self, before, value)
            return
        result = self._arithmetic(node.operator, (before, value), node.at)
        if self.loops and node.operator == "+":
            lives_on = self._carried(before) if isinstance(node.target, s.Name) else True
            if lives_on:
                self.emit(Accumulated, node.at, total=label(node.target), value=value, result=result)
        if isinstance(node.target, s.Attribute):
            library.written_by_hand(self, self.expr(node.target.value), node.target.name, node.at)
        elif isinstance(before, Op):
            library.written_by_hand(self, before, "", node.at)
        self.assign(node.target, result)

    def _if(self, node: s.If) -> Signal:
        test = self.expr(node.test)
        outcome = conditions.truth(test, self.known)
        if outcome is None and _is_main_guard(node.test):
            outcome = True
        loops = self.loops
        if loops and _is_lazy(node):
            outcome, self.loops = None, ()  # what it makes is made once, on the first round
        try:
            return self._decide(node, test, outcome)
        finally:
            self.loops = loops

    def _decide(self, node: s.If, test: Value, outcome: bool | None) -> Signal:
        if outcome is not None:
            return self._decided(node.body if outcome else node.orelse)
        asks = _names_version(node.test)
        self._asking += asks
        try:
            return self._fork(node, test)
        finally:
            self._asking -= asks

    def _fork(self, node: s.If, test: Value) -> Signal:
        guard = conditions.guard(test)
        branch = Branch(guard[0], tuple(sorted(conditions.varies(test))))
        yes, no = self._branch(test, True, node.body), self._branch(test, False, node.orelse)
        branch.then, branch.otherwise = (yes[0], no[0]) if guard[1] else (no[0], yes[0])
        self._nodes.append(branch)
        if yes[1] is not None and no[1] is not None:
            self.store.merge(guard, yes[2], no[2])
            return yes[1] if yes[1] == no[1] else "return"
        if yes[1] is not None or no[1] is not None:
            gone = yes[1] is not None
            self.store.write(no[2] if gone else yes[2])
            self._assume(test, not gone)
        else:
            self.store.merge(guard, yes[2], no[2])
        return None

    def _decided(self, statements: s.Block) -> Signal:
        """A block whose assumptions live on after it, as if it stood in the surrounding one."""
        for statement in statements:
            signal = self._statement(statement)
            if signal is not None:
                return signal
        return None

    def _branch(self, test: Value, outcome: bool, statements: s.Block) -> tuple[list[Node], Signal, Layer]:
        known, guards, outer, records = self.known, len(self._guards), self._nodes, self.records
        self._nodes = []
        self.store.push()
        try:
            self._assume(test, outcome)
            signal = self.block(statements)
            return self._nodes, signal, self.store.pop()
        finally:
            self.known, self._nodes, self.records = known, outer, records
            del self._guards[guards:]

    def _assume(self, test: Value, outcome: bool) -> None:
        self.known = {**self.known, **dict(conditions.implied(test, outcome))}
        condition, polarity = conditions.guard(test)
        self._guards.append((condition, polarity == outcome))

    def _for(self, node: s.For) -> Signal:
        iterable = builtin.listed(self.expr(node.iterable))
        if isinstance(iterable, Items) and iterable.exact and len(iterable.items) <= MAX_UNROLLED:
            return self._unrolled(node, iterable)

        def bind() -> None:
            self.assign(node.target, builtin.element(self, iterable, node.iterable.at))

        signal = self._loop(node, node.body, bind)
        self._decided(node.orelse)
        return signal

    def _unrolled(self, node: s.For, iterable: Items) -> Signal:
        for one in iterable.items:
            self.assign(node.target, one)
            signal = self.block(node.body)
            if signal in ("return", "raise"):
                return signal
            if signal == "break":
                return None
        return self._decided(node.orelse)

    def _while(self, node: s.While) -> Signal:
        self._loop(node, node.body, lambda: self.expr(node.test))
        endless = isinstance(node.test, s.Constant) and bool(node.test.value)
        if not endless:
            self._decided(node.orelse)
        return None

    def _loop(self, node: s.For | s.While, body: s.Block, start: Callable[[], Any]) -> Signal:
        """One round that stands for many: names that the body assigns are carried into it."""
        carried: dict[str, Carried] = {}
        with self.loop(node.at) as number:
            for name in self._names_assigned(node, body):
                before = self.store.get((self.env.declared.get(name, self.env).uid, name))
                if before is not None:
                    carried[name] = Carried(start=before, loop=number)
                    self.bind(name, carried[name])
            start()
            signal = self.block(body)
        for name, value in carried.items():
            after = self.store.get((self.env.declared.get(name, self.env).uid, name))
            if after is value:
                self.bind(name, value.start)
            else:
                value.back = after
        return signal if signal in ("return", "raise") and isinstance(node, s.While) else None

    @contextmanager
    def loop(self, at: s.Span) -> Iterator[int]:
        """What happens inside happens in every round of a loop, which has this number."""
        number = next(self._numbers)
        loop = Loop(number, self.place(at))
        nodes, loops, known, guards = self._nodes, self.loops, self.known, len(self._guards)
        self._nodes, self.loops = loop.body, (*loops, number)
        try:
            yield number
        finally:
            self._nodes, self.loops, self.known = nodes, loops, known
            del self._guards[guards:]
        self._nodes.append(loop)

    def _names_assigned(self, node: s.For | s.While, body: s.Block) -> frozenset[str]:
        found = self._assigned.get(id(node))
        if found is None:
            found = self._assigned[id(node)] = frozenset(_assigned(body))
        return found

    def _with(self, node: s.With) -> Signal:
        records = self.records
        for context, target in node.items:
            value = self.expr(context)
            self.records = self._records_in(value, self.records)
            if target is not None:
                self.assign(target, self._entered(value, context))
        signal = self.block(node.body)
        self.records = records
        return signal

    def _entered(self, value: Value, context: s.Expr) -> Value:
        """What `with value as name` binds."""
        if isinstance(value, Items):
            return builtin.element(self, value, context.at)
        if isinstance(value, Object) and value.definition is not None:
            method = classes.class_attribute(self, value.definition, "__enter__")
            if isinstance(method, FunctionValue):
                return self.call_function(method, Arguments((value,)), context.at, value)
        return value

    def _records_in(self, context: Value, outer: bool | None) -> bool | None:
        """Whether autograd records inside `with context`."""
        found: set[bool | None] = set()
        for one in alternatives(context):
            if one.uid in self.contexts:
                found.add(self.contexts[one.uid])
            else:
                change = library.records_inside(one)
                found.add(outer if change == "same" else change)  # type: ignore[arg-type]
        return found.pop() if len(found) == 1 else None

    def _try(self, node: s.Try) -> Signal:
        self.store.push()
        signal = self.block(node.body)
        if signal is None:
            signal = self.block(node.orelse)
        done = self.store.pop()
        ended: list[Signal] = [signal]
        outcome = done
        for handler in node.handlers:
            if handler.catches is not None:
                self.expr(handler.catches)
            caught = Unknown(text="exception", loops=self.loops)
            branch = Branch(None, ())
            outer, self._nodes = self._nodes, branch.then
            guards = len(self._guards)
            condition = ("import fails" if _is_import_error(handler.catches) else "handler", caught.uid)
            self._guards.append((condition, True))
            self.store.push()
            if handler.name is not None:
                self.bind(handler.name, caught)
            left = self.block(handler.body)
            layer = self.store.pop()
            del self._guards[guards:]
            self._nodes = outer
            self._nodes.append(branch)
            ended.append(left)
            if left is None:
                self.store.push()
                self.store.merge((condition, True), layer, outcome)
                outcome = self.store.pop()
        if signal is None or any(left is None for left in ended):
            self.store.write(outcome)
        left_by = self._nodes.pop() if self._nodes and isinstance(self._nodes[-1], Exit) else None
        last = self._decided(node.final)
        if left_by is not None:
            self._nodes.append(left_by)
        if last is not None:
            return last
        return None if any(left is None for left in ended) else signal

    def _match(self, node: s.Match) -> Signal:
        self.expr(node.subject)
        for names, body in node.cases:
            branch = Branch(None, ())
            outer, self._nodes = self._nodes, branch.then
            self.store.push()
            for name in names:
                self.bind(name, self.unknown(name))
            left = self.block(body)
            layer = self.store.pop()
            self._nodes = outer
            self._nodes.append(branch)
            if left is None:
                self.store.merge(None, layer, {})
        return None

    def _scope(self, node: s.Scope) -> None:
        env = self.env
        target: Env | None = env.parent
        if node.kind == "global":
            while target is not None and target.parent is not None:
                target = target.parent
        if target is not None:
            for name in node.names:
                env.declared[name] = target

    def _import(self, node: s.Import) -> None:
        path = self.env.path
        for name, alias in node.names:
            first = name.partition(".")[0]
            whole, package = self.project.module(path, 0, name), self.project.module(path, 0, first)
            if alias is not None:
                self.bind(alias, FileModule(path=whole) if whole is not None else Library(name=name))
            elif package is not None:
                self.bind(first, FileModule(path=package))
            elif whole is not None:
                self.bind(first, self._package(name, whole))
            else:
                self.bind(first, Library(name=first))

    def _package(self, name: str, file: str) -> Value:
        """`import a.b.c` where `a` has no `__init__`: a namespace that holds `b`, that holds `c`."""
        value: Value = FileModule(path=file)
        for part in reversed(name.split(".")[1:]):
            holder = Object(type="module")
            self.store.set((holder.uid, part), value)
            value = holder
        return value

    def _import_from(self, node: s.ImportFrom) -> None:
        path = self.env.path
        file = self.project.module(path, node.level, node.module)
        for name, alias in node.names:
            if name == "*":
                if file is not None:
                    self._import_all(file)
            elif file is not None:
                self.bind(alias or name, Imported(path=file, name=name))
            else:
                inner = self.project.module(path, node.level, f"{node.module}.{name}".strip("."))
                library = Library(name=f"{node.module or '.'}.{name}")
                self.bind(alias or name, FileModule(path=inner) if inner is not None else library)

    def _import_all(self, file: str) -> None:
        env = self.module(file)
        for name in list(self.store.owned(env.uid)):
            if not name.startswith("_"):
                self.bind(name, Imported(path=file, name=name))

    # Expressions

    def expr(self, node: s.Expr) -> Value:
        self._steps += 1
        return _EVALUATE[type(node)](self, node)

    def _name(self, node: s.Name) -> Value:
        return self.lookup(node.name)

    def _constant(self, node: s.Constant) -> Value:
        return Constant(value=node.value, at=self.place(node.at))

    def _attribute(self, node: s.Attribute) -> Value:
        return self.settle(self.attribute(self.expr(node.value), node.name, node.at, self._label(node)))

    def _call(self, node: s.Call) -> Value:
        if isinstance(node.func, s.Name) and node.func.name == "super":
            frame = self.frames[-1]
            if frame.owner is not None and frame.receiver is not None:
                return Super(owner=frame.owner, receiver=frame.receiver)
        func = self.expr(node.func)
        return self.call(func, self._arguments(node.args), node.at, self._label(node.func) + "(…)")

    def _arguments(self, nodes: tuple[s.Argument, ...]) -> Arguments:
        args: list[Value] = []
        options: dict[str, Value] = {}
        is_open = False
        for node in nodes:
            value = self.expr(node.value)
            if node.star == "*":
                if isinstance(value, Items) and value.exact:
                    args.extend(value.items)
                elif isinstance(value, Items):
                    args.append(Items(items=value.items, exact=False, kind="star", open_end=value.open_end))
                    is_open = True
                else:
                    args.append(
                        Items(items=[builtin.element(self, value, node.value.at)], exact=False, kind="star")
                    )
                    is_open = True
            elif node.star == "**":
                if isinstance(value, Table) and not value.others:
                    options.update({str(name): one for name, one in value.entries.items()})
                else:
                    is_open = True
            elif node.keyword is not None:
                options[node.keyword] = value
            else:
                args.append(value)
        return Arguments(tuple(args), options, is_open)

    def _subscript(self, node: s.Subscript) -> Value:
        value = self.expr(node.value)
        index = self.expr(node.index)
        return self.settle(builtin.item(self, value, index, node.at))

    def _collection(self, node: s.Collection) -> Value:
        items: list[Value] = []
        exact = True
        for item in node.items:
            if isinstance(item, s.Starred):
                value = self.expr(item.value)
                if isinstance(value, Items):
                    items.extend(value.items)
                    exact = exact and value.exact
                else:
                    items.append(builtin.element(self, value, item.at))
                    exact = False
            else:
                items.append(self.expr(item))
        return Items(
            kind=node.kind, items=items, exact=exact, at=self.place(node.at), branch=len(self._guards)
        )

    def _mapping(self, node: s.Mapping) -> Value:
        table = Table()
        for key, one in node.items:
            value = self.expr(one)
            if key is None:
                if isinstance(value, Table):
                    table.entries.update(value.entries)
                    table.others.extend(value.others)
                else:
                    table.others.append(value)
                continue
            found = self.expr(key)
            if isinstance(found, Constant) and _hashable(found.value):
                table.entries[found.value] = value
            else:
                table.others.append(value)
        return table

    def _operation(self, node: s.Operation) -> Value:
        if node.operator in ("and", "or"):
            return self._boolean(node)
        operands = tuple(self.expr(one) for one in node.operands)
        return self._arithmetic(node.operator, operands, node.at, self._label(node))

    def _boolean(self, node: s.Operation) -> Value:
        first = self.expr(node.operands[0])
        decided = conditions.truth(first, self.known)
        if decided is not None:
            return first if decided == (node.operator == "or") else self.expr(node.operands[1])
        known = self.known
        self.known = {**known, **dict(conditions.implied(first, node.operator == "and"))}
        second = self.expr(node.operands[1])
        self.known = known
        return self.op(node.operator, (first, second), node.at)

    def _arithmetic(self, operator: str, operands: tuple[Value, ...], at: s.Span, text: str = "") -> Value:
        folded = builtin.fold(operator, operands)
        if folded is not None:
            return folded
        if operator == "+" and all(isinstance(one, Items) for one in operands):
            first, second = operands
            assert isinstance(first, Items) and isinstance(second, Items)
            return Items(
                kind=first.kind, items=[*first.items, *second.items], exact=first.exact and second.exact
            )
        if operator == "*" and isinstance(operands[0], Items):
            return Items(kind=operands[0].kind, items=operands[0].items, exact=False, at=operands[0].at)
        return self.op(operator, operands, at, text)

    def _conditional(self, node: s.Conditional) -> Value:
        test = self.expr(node.test)
        outcome = conditions.truth(test, self.known)
        if outcome is not None:
            return self.expr(node.then if outcome else node.otherwise)
        known = self.known
        self.known = {**known, **dict(conditions.implied(test, True))}
        then = self.expr(node.then)
        self.known = {**known, **dict(conditions.implied(test, False))}
        otherwise = self.expr(node.otherwise)
        self.known = known
        condition, polarity = conditions.guard(test)
        return one_of(((((condition, polarity),), then), (((condition, not polarity),), otherwise)))

    def _lambda(self, node: s.Lambda) -> Value:
        return classes.define_function(self, node.function)

    def _starred(self, node: s.Starred) -> Value:
        return self.expr(node.value)

    def _comprehension(self, node: s.Comprehension) -> Value:
        env = self._env(self.env.path, self.env)
        frame = self.frames[-1]
        outer = frame.env
        exact: list[Value] | None = None
        frame.env = outer
        target, iterable_node, tests = node.loops[0]
        iterable = builtin.listed(self.expr(iterable_node))
        frame.env = env
        try:
            if (
                len(node.loops) == 1
                and not tests
                and isinstance(iterable, Items)
                and iterable.exact
                and len(iterable.items) <= MAX_UNROLLED
            ):
                exact = []
                keys: list[Value] = []
                for one in iterable.items:
                    self.assign(target, one)
                    if node.key is not None:
                        keys.append(self.expr(node.key))
                    exact.append(self.expr(node.element))
                if node.kind == "dict":
                    return builtin.tabled(keys, exact)
                return Items(kind="list", items=exact, at=self.place(node.at))
            with self._inside_loop():
                self.assign(target, builtin.element(self, iterable, iterable_node.at))
                for test in tests:
                    self.expr(test)
                for inner_target, inner_iterable, inner_tests in node.loops[1:]:
                    value = self.expr(inner_iterable)
                    self.assign(inner_target, builtin.element(self, value, inner_iterable.at))
                    for test in inner_tests:
                        self.expr(test)
                if node.key is not None:
                    self.expr(node.key)
                element = self.expr(node.element)
        finally:
            frame.env = outer
        if node.kind == "dict":
            return Table(others=[element])
        return Items(kind="list", items=[element], exact=False, at=self.place(node.at))

    @contextmanager
    def _inside_loop(self) -> Iterator[None]:
        outer = self.loops
        self.loops = (*outer, next(self._numbers))
        try:
            yield
        finally:
            self.loops = outer

    def _walrus(self, node: s.Walrus) -> Value:
        value = self.expr(node.value)
        self.assign(node.target, value)
        return value

    def _text(self, node: s.Text) -> Value:
        for part in node.parts:
            self.expr(part)
        return self.unknown("text")

    def _yield(self, node: s.Yield) -> Value:
        frame = self.frames[-1]
        frame.yields.append(self.expr(node.value) if node.value is not None else Constant(value=None))
        frame.yield_records = self.records
        return self.unknown("sent")

    # Calls

    def call(self, func: Value, given: Arguments, at: s.Span, text: str) -> Value:
        """`func(...)`, whatever it is."""
        match func:
            case FunctionValue():
                return self.call_function(func, given, at)
            case ClassValue():
                return classes.instantiate(self, func, given, at)
            case Bound(function=FunctionValue() as function):
                return self.call_function(function, _with_receiver(func.receiver, given), at, func.receiver)
            case Bound():
                return library.call_method(self, func.receiver, func.name, given, at, text)
            case Library():
                if func.name.startswith("builtins."):
                    return builtin.call(self, func.name[9:], given, at, text)
                return library.call_name(self, func.name, given, at, text)
            case Object():
                return library.call_object(self, func, given, at, text)
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
        outer = self._nodes
        for guards, one in func.options[:6]:
            branch = Branch(guards[-1][0] if guards else None, ())
            self._nodes = branch.then if not guards or guards[-1][1] else branch.otherwise
            before = len(self._guards)
            known = self.known
            self._guards.extend(guards)
            self.known = {**known, **dict(guards)}
            results.append((guards, self.call(one, self._settled(given), at, text)))
            self.known = known
            del self._guards[before:]
            outer.append(branch)
        self._nodes = outer
        return results[0][1] if len(results) == 1 else one_of(tuple(results))

    def _settled(self, given: Arguments) -> Arguments:
        """The same arguments with what is now known of conditions applied."""
        options = {name: self.settle(one) for name, one in given.options.items()}
        return Arguments(tuple(self.settle(one) for one in given.args), options, given.open)

    def call_function(
        self, func: FunctionValue, given: Arguments, at: s.Span, receiver: Value | None = None
    ) -> Value:
        """A function of the program: its body, here and now. Beyond the limits, an unknown result."""
        code = id(func.code)
        if (
            self._active.get(code, 0) >= MAX_SAME_FUNCTION
            or len(self.frames) > MAX_DEPTH
            or self._steps > PROGRAM_STEPS
        ):
            return self.op("call", given.all(), at, func.code.name + "(…)")
        is_constructor = func.code.name == "__init__"
        if not is_constructor and self.project.is_library_code(func.env.path, self.env.path):
            owner = receiver if isinstance(receiver, Object) else None
            return self.op("framework", given.all(), at, func.code.name + "(…)", owner=owner)
        self.reached.add(code)
        env = self._env(func.env.path, func.env)
        call_place = self.place(at) if self.frames else None
        frame = Frame(env, func.code, func.owner, receiver, guards=len(self._guards))
        self._active[code] = self._active.get(code, 0) + 1
        outer_nodes, outer_records, outer_calls = self._nodes, self.records, self.calls
        body = Body()
        self._nodes = body.body
        if func.records is not True:
            self.records = func.records
        self.frames.append(frame)
        if call_place is not None:
            self.calls = (*outer_calls, call_place)
        try:
            classes.bind_parameters(self, func, given)
            signal = self.block(func.code.body)
        finally:
            self.frames.pop()
            self._active[code] -= 1
            self._nodes, self.records, self.calls = outer_nodes, outer_records, outer_calls
        if body.body:
            self._nodes.append(body)
        if func.code.is_generator:
            made = Items(items=frame.yields, exact=False, kind="generator")
            if func.is_context:
                self.contexts[made.uid] = frame.yield_records
            return made
        if signal is None and frame.returns and func.code.name != "<lambda>":
            frame.returns.append((tuple(self._guards[frame.guards :]), Constant(value=None)))
        return _returned(frame.returns)


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
        condition == "builtins.hasattr" or condition.endswith(("__version__", ".version"))
    )


def _is_main_guard(test: s.Expr) -> bool:
    match test:
        case s.Operation(operator="==", operands=(s.Name(name="__name__"), s.Constant(value="__main__"))):
            return True
    return False


def _is_import_error(catches: s.Expr | None) -> bool:
    names = {
        one.name
        for one in (catches.items if isinstance(catches, s.Collection) else (catches,))
        if isinstance(one, s.Name)
    }
    return catches is None or not names.isdisjoint(
        ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "TypeError")
    )


def _is_lazy(node: s.If) -> bool:
    """`if self.x is None: self.x = ...`: decided one way on the first round of a loop, and the other way on the next."""
    tested = {one.name for one in _attributes(node.test)}
    return bool(tested) and any(
        isinstance(target, s.Attribute) and target.name in tested
        for one in node.body
        if isinstance(one, s.Assign)
        for target in one.targets
    )


def _names_version(node: s.Expr) -> bool:
    match node:
        case s.Name(name=name) | s.Attribute(name=name):
            return "version" in name.lower()
        case s.Call():
            return _names_version(node.func)
        case s.Operation():
            return any(_names_version(one) for one in node.operands)
    return False


def _attributes(node: s.Expr) -> Iterator[s.Attribute]:
    match node:
        case s.Attribute():
            yield node
        case s.Operation():
            for one in node.operands:
                yield from _attributes(one)


def _hashable(value: object) -> bool:
    return isinstance(value, (str, int, float, bool, bytes, type(None)))


def _assigned(block: s.Block) -> Iterator[str]:
    """The plain names that a block assigns, nested functions left out."""
    for node in block:
        match node:
            case s.Assign():
                for target in node.targets:
                    yield from _names(target)
            case s.AugmentedAssign():
                yield from _names(node.target)
            case s.For():
                yield from _names(node.target)
                yield from _assigned(node.body)
                yield from _assigned(node.orelse)
            case s.While() | s.If():
                yield from _assigned(node.body)
                yield from _assigned(node.orelse)
            case s.With():
                for _, name in node.items:
                    if name is not None:
                        yield from _names(name)
                yield from _assigned(node.body)
            case s.Try():
                for part in (
                    node.body,
                    node.orelse,
                    node.final,
                    *(handler.body for handler in node.handlers),
                ):
                    yield from _assigned(part)
            case s.Match():
                for _, body in node.cases:
                    yield from _assigned(body)


def _names(target: s.Expr) -> Iterator[str]:
    match target:
        case s.Name():
            yield target.name
        case s.Collection():
            for item in target.items:
                yield from _names(item)
        case s.Starred():
            yield from _names(target.value)


def label(node: s.Expr, depth: int = 0) -> str:
    """Short source text: `self.net.fc`, `x.view(…)`."""
    match node:
        case s.Name():
            return node.name
        case s.Attribute():
            return f"{label(node.value, depth + 1)}.{node.name}" if depth < 3 else f"….{node.name}"
        case s.Call():
            return f"{label(node.func, depth + 1)}(…)"
        case s.Subscript():
            return f"{label(node.value, depth + 1)}[…]"
        case s.Constant():
            return repr(node.value)
        case s.Operation(operands=(first, second)) if depth < 2:
            return f"{label(first, depth + 2)} {node.operator} {label(second, depth + 2)}"
    return "…"


_EVALUATE: dict[type, Callable[[Evaluator, Any], Value]] = {
    s.Name: Evaluator._name,
    s.Attribute: Evaluator._attribute,
    s.Constant: Evaluator._constant,
    s.Call: Evaluator._call,
    s.Subscript: Evaluator._subscript,
    s.Collection: Evaluator._collection,
    s.Mapping: Evaluator._mapping,
    s.Operation: Evaluator._operation,
    s.Conditional: Evaluator._conditional,
    s.Lambda: Evaluator._lambda,
    s.Starred: Evaluator._starred,
    s.Comprehension: Evaluator._comprehension,
    s.Walrus: Evaluator._walrus,
    s.Text: Evaluator._text,
    s.Yield: Evaluator._yield,
}
