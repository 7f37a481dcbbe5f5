"""Runs a program's code on values of which little is known, and notes what happens in training.

Every statement is evaluated once: both ways of an undecided branch, a loop's body as one iteration of many,
a call of a function of the program as its body in place. Each kind of statement is in `statements`, each kind of
expression in `expressions`; what the code does to models, losses and optimizers is in `library`, what Python's own
functions do in `builtin`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from trainlint.facts.ask.asking import answered_by
from trainlint.facts.model.effort import OutOfSteps
from trainlint.facts.model.values import Carried, Choice, Constant, Object, Op, Value
from trainlint.finding import Place
from trainlint.program.api import builtin, library, methods
from trainlint.program.api.unseen_methods import UnseenCall
from trainlint.program.evaluate import (
    around,
    attribute_access,
    blocks,
    calling,
    classes,
    declared,
    expressions,
    functions,
    lived,
    names,
    picked_by_name,
    standing_in,
    statements,
)
from trainlint.program.evaluate.context import Context, Frame, Work
from trainlint.program.evaluate.making import Making
from trainlint.program.evaluate.roots import Root
from trainlint.program.evaluate.shared_names import SharedNames
from trainlint.program.evaluate.store import Kept, Layer
from trainlint.program.evaluate.sweeping import reachable
from trainlint.program.evaluate.values import (
    Arguments,
    Bound,
    ClassValue,
    Env,
    FunctionValue,
    Library,
    Partial,
)
from trainlint.program.incremental.project_files import Project
from trainlint.program.source import syntax as s


class Evaluator(Making):
    """Evaluates roots (module bodies, functions) of one project over one store."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.bodies: dict[str, Root] = {}
        """What happened in the body of each module that was evaluated."""
        self.contexts: dict[int, around.Manager] = {}
        """The context managers that functions of the program have made, by their numbers."""
        self.batches: dict[int, Value] = {}
        """What the batches of loaders are made of, by the numbers of these."""
        self.unseen_calls: dict[int, UnseenCall] = {}
        """Calls of methods that are not in sight, of which it is not known yet that they compute with a model."""
        self.varying: dict[Any, frozenset[int]] = {}
        """The loops in which conditions may change from one iteration to the next."""
        self.last_wrapper: tuple[Place | None, Constant] | None = None
        """Where a function was called last that returned a wrapper of a module, and the prefix of its keys."""
        self.handed: dict[int, Constant] = {}
        """Which of the modules that a function is called with are wrapped, by their numbers."""
        self.has_hooks = False
        """Whether any module of the program calls a hook."""
        self.loop_numbers = itertools.count()
        self.uses = lived.Uses()
        self.roles = standing_in.Roles()
        self.annotations = declared.Annotations()
        self.modules: dict[str, Env] = {}
        self._running: list[str] = []
        """Files whose bodies are being evaluated, each because the one before needs it."""
        self.is_tangled = False
        """Whether a body has looked at a module whose own body was not done: the order of evaluation tells then."""
        self.owners: dict[int, str] = {}
        """Files of entry points, by the numbers that the store gives them."""
        self.tables: set[str] = set()
        """Dicts that any entry point has seen and has not made itself."""
        self.assigned_names: dict[int, frozenset[str]] = {}
        self.shared_names = SharedNames()

    # Roots

    def module(self, path: str) -> Env:
        """The names of a module; its body is evaluated at the first call."""
        self.trace.uses.add(path)
        if path not in self.modules:
            self._running.append(path)
            try:
                self.bodies[path] = self.run_root(path, lambda: self._module_body(path), kept="by all")
            finally:
                self._running.pop()
        elif path in self._running[:-1]:
            self.is_tangled = True
        return self.modules[path]

    def sweep(self, path: str) -> None:
        """Forget what the body of a file has made that no other code can ask for."""
        body = self.bodies[path]
        module = self.modules[path]
        kept = reachable((module, *(one for one in body.changes if isinstance(one, Value))), body.made)
        self.store.sweep(body.made, kept)
        body.made.clear()

    def forget_code(self) -> None:
        """Between two entry points: forget what is known of code, which can be read again."""
        self.project.forget_code()
        self.forget_labels()
        self.assigned_names.clear()
        self.shared_names.forget_code()
        self.uses.forget_code()
        self.roles.forget_code()

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
        passing: tuple[dict[Any, Any], ...] = (
            self.contexts,
            self.batches,
            self.unseen_calls,
            self.varying,
            self.uses.loops,
            self.uses.changed,
        )
        sizes, bodies = tuple(map(len, passing)), len(self.bodies)
        try:
            with self.store.root(kept, on) as left, answered_by(self.work.budget):
                self.owners[self.store.number] = path
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
                root.trace.fills.add(names.table_name(self, self.store.filled.pop()))
            return root
        finally:
            self.here, self.work, self.frames = here, before, before.frames
            if not kept and len(self.bodies) == bodies:
                for known, size in zip(passing, sizes, strict=True):
                    _shorten(known, size)

    def _module_body(self, path: str) -> None:
        self.trace.uses.add(path)
        self.modules[path] = self.new_env(path, None)
        self.frames.append(Frame(self.modules[path]))
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

    arithmetic = expressions.arithmetic
    attribute = attribute_access.attribute
    set_attribute = attribute_access.set_attribute
    call_function = functions.call_function

    def is_read(self, name: str) -> bool:
        """Whether any code of the program reads an attribute of this name."""
        self.trace.asked.add(name)
        return name in self.project.reads

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
                return functions.call_written(self, func, given, at, given.args[0])
            case FunctionValue():
                return functions.call_written(self, func, given, at)
            case ClassValue():
                return classes.instantiate(self, func, given, at)
            case Bound(function=FunctionValue() as function):
                if func.name == "forward" and text.endswith(".forward(…)"):
                    return calling.call_forward(self, func.receiver, function, given, at, text)
                with_receiver = _with_receiver(func.receiver, given)
                return functions.call_written(self, function, with_receiver, at, func.receiver)
            case Bound():
                return methods.call_method(self, func.receiver, func.name, given, at, text)
            case Library():
                if func.name.startswith("builtins."):
                    return builtin.call(self, func.name[9:], given, at, text)
                return library.call_name(self, func.name, given, at, text)
            case Object():
                return calling.call_object(self, func, given, at, text)
            case Partial():
                options = {**func.options, **given.options}
                merged = Arguments((*func.args, *given.args), options, given.open, given.mappings)
                return self.call(func.function, merged, at, text)
            case Choice():
                return calling.call_choice(self, func, given, at, text)
            case Carried():
                return self.call(func.start, given, at, text)
            case Op(name=picked_by_name.EVALUATED) if (
                named := picked_by_name.evaluated(self, func, given, at)
            ) is not None:
                return self.call(named, given, at, text)
            case _:
                return library.call_unknown(self, func, given, at, text)


def _shorten(known: dict[Any, Any], size: int) -> None:
    """Forget what was noted last."""
    while len(known) > size:
        known.popitem()


def _with_receiver(receiver: Value, given: Arguments) -> Arguments:
    return given.after(receiver)
