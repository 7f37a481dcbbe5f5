"""How an entry point is entered: a module's body, a class that is made, a function that is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainlint import limits
from trainlint.facts.api.classes import MODULE
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.frameworks import Sharded
from trainlint.facts.model.order import events
from trainlint.facts.model.values import Choice, Items, Object, Table, Value
from trainlint.program.evaluate import classes, inheriting, owned_methods
from trainlint.program.evaluate.evaluator import Evaluator
from trainlint.program.evaluate.roots import Root
from trainlint.program.evaluate.store import Layer
from trainlint.program.evaluate.uses import Trace
from trainlint.program.evaluate.values import ClassValue, FunctionValue
from trainlint.program.incremental.outcome import Defined, DefinedClass, DefinedFunction, Method
from trainlint.program.source.relevance import needs_instance
from trainlint.program.source.roles import unclear


class _Prototype(NamedTuple):
    """An instance of a class, what the things that were made with it hold, what making it has used, and what has been
    done with them there for good."""

    instance: Object | None
    made: Layer
    trace: Trace
    lasting: tuple[Event, ...] = ()


class Entering:
    """Enters the entry points of one program."""

    def __init__(self, ev: Evaluator) -> None:
        self._ev = ev
        self._prototypes: dict[int, _Prototype] = {}
        self._listed: dict[str, list[tuple[FunctionValue, ClassValue | None]]] = {}
        """The functions of files whose bodies are done."""

    def body(self, path: str) -> None:
        """Evaluate the body of a file, unless another one has needed it before."""
        self._ev.module(path)

    def defined(self, path: str) -> Defined:
        """What the body of a file has defined."""
        self._ev.work.trace = self._ev.bodies[path].trace  # what this looks at, the body follows from
        found = _classes(self._ev, path)
        numbers = {cls.uid: number for number, cls in enumerate(found)}
        functions = [
            DefinedFunction(
                function.origin.code.name,
                (path, function.origin.code.at[0]),
                function.origin.code.names,
                numbers[cls.uid] if cls is not None else None,
            )
            for function, cls in _functions(self._ev, path)
        ]
        return Defined(tuple(self._defined_class(one) for one in found), tuple(functions))

    def _defined_class(self, cls: ClassValue) -> DefinedClass:
        init = classes.class_attribute(self._ev, cls, "__init__")
        method = None
        if isinstance(init, FunctionValue):
            written = init.origin
            method = Method((written.env.path, written.code.at[0]), written.code.names)
        return DefinedClass(cls.code.name, method, MODULE in cls.library_bases and needs_instance(cls.code))

    def make(self, path: str, number: int) -> Root:
        """Make an instance of a class that nothing in the program makes."""
        return self._make(path, _classes(self._ev, path)[number])

    def _make(self, path: str, cls: ClassValue) -> Root:
        instance = None

        def make() -> None:
            nonlocal instance
            with self._ev.module_frame(path):
                instance = classes.prototype(self._ev, cls)

        while len(self._prototypes) >= limits.PROTOTYPES:
            oldest = next(iter(self._prototypes))
            self._ev.store.drop(self._prototypes.pop(oldest).made)
        self._prototypes[cls.uid] = _Prototype(None, {}, Trace())
        root = self._ev.run_root(path, make, "PART_STEPS", kept="apart")
        self._prototypes[cls.uid] = _Prototype(instance, root.made, root.trace, _lasting(root))
        return root

    def call(self, path: str, number: int) -> Root:
        """Call a function that nothing in the program calls."""
        function, cls = self._functions(path)[number]
        before = _Prototype(None, {}, Trace())
        if cls is not None and function.kind in ("function", "property"):
            if cls.uid not in self._prototypes:
                self._make(path, cls)
            before = self._prototypes[cls.uid]
        receiver = before.instance

        def call() -> None:
            self._enter(path, function, receiver)
            if isinstance(receiver, Object):
                self._describe(receiver)

        root = self._ev.run_root(path, call, "PART_STEPS", on=before.made)
        root.trace.add(before.trace)
        if root.nodes:
            root.nodes[:0] = before.lasting
        return root

    def strangers(self, path: str, number: int) -> tuple[str, ...]:
        """What a function that nothing calls trains with, as far as nothing says what it is."""
        function, _ = self._functions(path)[number]
        return unclear(function.code.body)

    def _functions(self, path: str) -> list[tuple[FunctionValue, ClassValue | None]]:
        if path not in self._listed:
            self._listed[path] = _functions(self._ev, path)
        return self._listed[path]

    def _describe(self, receiver: Object) -> None:
        """Say what an object that was made before holds now, and all that it holds."""
        pending: list[Value] = [receiver]
        seen: set[int] = set()
        while pending:
            one = pending.pop()
            if one.uid in seen:
                continue
            seen.add(one.uid)
            if isinstance(one, Object):
                self._ev.store.touch(one)
                one.attributes = self._ev.store.owned(one.uid)
                pending.extend(one.attributes.values())
            elif isinstance(one, (Items, Table, Choice)):
                pending.extend(one.parts())

    def _enter(self, path: str, function: FunctionValue, receiver: Value | None) -> None:
        with self._ev.module_frame(path):
            owned_methods.enter(self._ev, function, receiver)


def _lasting(root: Root) -> tuple[Event, ...]:
    """What holds of the things that a constructor has made for as long as they are there."""
    return tuple(one for one in events(root.nodes) if isinstance(one, Sharded))


def _own(ev: Evaluator, path: str) -> Iterator[FunctionValue | ClassValue]:
    for value in ev.store.owned(ev.module(path).uid).values():
        written = value.origin if isinstance(value, FunctionValue) else value
        if isinstance(written, (FunctionValue, ClassValue)) and written.env.path == path:
            yield value  # type: ignore[misc]


def _classes(ev: Evaluator, path: str) -> list[ClassValue]:
    return [one for one in _own(ev, path) if isinstance(one, ClassValue)]


def _functions(ev: Evaluator, path: str) -> list[tuple[FunctionValue, ClassValue | None]]:
    found: list[tuple[FunctionValue, ClassValue | None]] = []
    for value in _own(ev, path):
        if isinstance(value, FunctionValue):
            found.append((value, None))
        else:
            found.extend(
                (method, value)
                for method in ev.store.owned(value.env.uid).values()
                if isinstance(method, FunctionValue) and method.owner is value
            )
    found.extend(inheriting.inherited(ev, _classes(ev, path)))
    return found
