"""How an entry point is entered: a module's body, a class that is made, a function that is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainlint import limits
from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.asking import Answers, answered_by
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.holding import is_part_of
from trainlint.facts.model.events.batches import PadIsEnd
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.frameworks import Sharded
from trainlint.facts.model.events.modules import StateLoaded
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.nodes import Node
from trainlint.facts.model.order import events
from trainlint.facts.model.training import Earlier
from trainlint.facts.model.values import Choice, Items, Object, Table, Value
from trainlint.program.evaluate import (
    classes,
    drawing,
    inheriting,
    left_aside,
    left_to_callers,
    owned_methods,
    set_up,
    siblings,
)
from trainlint.program.evaluate.evaluator import Evaluator
from trainlint.program.evaluate.roots import Root
from trainlint.program.evaluate.store import Layer
from trainlint.program.evaluate.uses import Trace
from trainlint.program.evaluate.values import ClassValue, FunctionValue
from trainlint.program.incremental.outcome import Defined, DefinedClass, DefinedFunction, Method
from trainlint.program.source.relevance import needs_instance
from trainlint.program.source.roles import unclear


class _Prototype(NamedTuple):
    """An instance of a class, what the things that were made with it hold, what making it has used, what happened
    there, and all that it made."""

    instance: Object | None
    made: Layer
    trace: Trace
    nodes: tuple[Node, ...] = ()
    objects: tuple[Object, ...] = ()


class Entering:
    """Enters the entry points of one program."""

    def __init__(self, ev: Evaluator) -> None:
        self._ev = ev
        self._prototypes: dict[int, _Prototype] = {}
        self._loaded: dict[int, tuple[StateLoaded, ...]] = {}
        """What the constructors of objects have loaded, by the number of the object."""
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
                (function.origin.env.path, function.origin.code.at[0]),
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
                if instance is not None:
                    set_up.run(self._ev, instance, cls)

        while len(self._prototypes) >= limits.PROTOTYPES:
            oldest = next(iter(self._prototypes))
            dropped = self._prototypes.pop(oldest)
            self._ev.store.drop(dropped.made)
            if dropped.instance is not None:
                self._loaded.pop(dropped.instance.uid, None)
        self._prototypes[cls.uid] = _Prototype(None, {}, Trace())
        root = self._ev.run_root(path, make, "PART_STEPS", kept="apart")
        trace = Trace()
        trace.add(root.trace)  # as it is now: whoever judges the instance adds to its own
        self._prototypes[cls.uid] = _Prototype(
            instance, root.made, trace, tuple(root.nodes), tuple(root.objects)
        )
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
        others: frozenset[str] = frozenset()

        def call() -> None:
            nonlocal others
            self._enter(function, receiver)
            if isinstance(receiver, Object):
                self._describe(receiver)
                if _trains(self._ev.nodes):
                    others = self._uncalled(receiver, before)

        root = self._ev.run_root(path, call, "PART_STEPS", on=before.made)
        if isinstance(receiver, Object) and not _trains(root.nodes):
            root = root._replace(earlier=Earlier(loads=self._loads(receiver, before)))
        root.trace.add(before.trace)
        return _after(root, before, others)

    def strangers(self, path: str, number: int) -> tuple[str, ...]:
        """What a function that nothing calls trains with, as far as nothing says what it is."""
        function, _ = self._functions(path)[number]
        return unclear(function.code)

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

    def _uncalled(self, receiver: Object, before: _Prototype) -> frozenset[str]:
        """The names in methods of an object that nothing has called so far."""
        if not isinstance(receiver.definition, ClassValue):
            return frozenset()
        own: set[str] = set()
        reached = self._ev.trace.reached | before.trace.reached
        for cls in classes.ancestry(receiver.definition):
            for one in classes.own_methods(self._ev, cls):
                if (cls.env.path, one.at[0]) not in reached:
                    own |= one.names
        return frozenset(own)

    def _loads(self, receiver: Object, before: _Prototype) -> tuple[StateLoaded, ...]:
        """The weights that the constructor of an object has loaded, where that alone says what mode they run in."""
        if receiver.uid not in self._loaded:
            self._ev.work.trace = before.trace
            with answered_by(Answers()):
                self._loaded[receiver.uid] = self._loaded_alone(receiver, before)
        return self._loaded[receiver.uid]

    def _loaded_alone(self, receiver: Object, before: _Prototype) -> tuple[StateLoaded, ...]:
        cls = receiver.definition
        loads = tuple(one for one in events(before.nodes) if isinstance(one, StateLoaded))
        if not loads or not isinstance(cls, ClassValue) or not siblings.sets_no_mode(self._ev, cls):
            return ()
        escapes = [one for one in events(before.nodes) if isinstance(one, Escape)]
        return tuple(one for one in loads if not any(_hands_on(each, one.target) for each in escapes))

    def _enter(self, function: FunctionValue, receiver: Value | None) -> None:
        with self._ev.module_frame(function.origin.env.path):
            owned_methods.enter(self._ev, function, receiver)
            left_aside.note(self._ev, function)
            drawing.note(self._ev, function)
            left_to_callers.train(self._ev, function.origin.code.at)


def _after(root: Root, before: _Prototype, others: frozenset[str]) -> Root:
    """A method together with the constructor, whose doings a method that trains goes on from. For any other, or where a limit
    has cut the constructor short, only what has been split among processes is still so, and how a tokenizer pads."""
    if _trains(root.nodes) and "PART_STEPS" not in before.trace.limits:
        root.nodes[:0] = before.nodes
        root.objects[:0] = before.objects
        return root._replace(earlier=Earlier(before.objects, others))
    if root.nodes:
        root.nodes[:0] = (one for one in events(before.nodes) if isinstance(one, (PadIsEnd, Sharded)))
    return root


def _hands_on(escape: Escape, module: Value) -> bool:
    """Whether code that is not seen is given a module, or what holds it: it may switch its mode."""
    given = (one for value in escape.values for one in handed_over(value) if isinstance(one, Object))
    return not isinstance(module, Object) or any(is_part_of(module, one) for one in given)


def _trains(nodes: Sequence[Node]) -> bool:
    return any(isinstance(one, (Backward, OptimizerStep)) for one in events(nodes))


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
