"""The entry points of a program: module bodies first, then whatever functions nothing here calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.events import Backward, Node, Returned
from trainlint.facts.torch_api import MODULE, OPAQUE_LOOPS
from trainlint.facts.training import Training
from trainlint.facts.values import Object, Value
from trainlint.program import classes
from trainlint.program.evaluator import PART_STEPS, Evaluator
from trainlint.program.relevance import Relevance, needs_instance
from trainlint.program.values import Arguments, ClassValue, FunctionValue


def trainings(ev: Evaluator, paths: Iterable[str]) -> Iterator[Training]:
    """What each entry point in these files does.

    A function is an entry point only if no other one calls it: what its callers hand it is known there.
    """
    paths = list(paths)
    for path in paths:
        start = len(ev.objects)
        ev.module(path)
        yield _training(ev, path, "program", ev.roots[path], start)
    called = frozenset(name for path in paths for name in ev.project.modules[path].called)
    pending = [(path, function, cls) for path in paths for function, cls in _functions(ev, path)]
    prototypes: dict[int, Object | None] = {}
    relevance = Relevance(ev.project.modules.values())
    for path in paths:
        for cls in _classes(ev, path):
            if MODULE in cls.library_bases and needs_instance(cls.code) and not _is_made(ev, cls):
                start = len(ev.objects)
                nodes = ev.run_root(
                    lambda cls=cls: prototypes.__setitem__(cls.uid, _prototype(ev, path, cls))
                )  # type: ignore[misc]
                yield _training(ev, path, "class", nodes, start)
    for wanted in (False, True):
        for path, function, cls in pending:
            if (function.code.name in called) is not wanted or id(function.code) in ev.reached:
                continue
            init = classes.class_attribute(ev, cls, "__init__") if cls is not None else None
            if relevance.trains(function.code) or (
                isinstance(init, FunctionValue) and relevance.trains(init.code)
            ):
                yield from _entered(ev, path, function, cls, prototypes)


def _entered(
    ev: Evaluator,
    path: str,
    function: FunctionValue,
    cls: ClassValue | None,
    prototypes: dict[int, Object | None],
) -> Iterator[Training]:
    start = len(ev.objects)
    ev.store.push()
    receiver: Value | None = None
    if cls is not None and function.kind in ("function", "property"):
        if cls.uid not in prototypes:
            with ev.store.at_base():
                ev.run_root(lambda: prototypes.__setitem__(cls.uid, _prototype(ev, path, cls)), PART_STEPS)
        receiver = prototypes[cls.uid]
    nodes = ev.run_root(lambda: _enter(ev, path, function, receiver), PART_STEPS)
    training = _training(ev, path, "function", nodes, start)
    yield training
    ev.store.pop()


def _enter(ev: Evaluator, path: str, function: FunctionValue, receiver: Value | None) -> None:
    with ev.module_frame(path):
        args = (receiver,) if receiver is not None else ()
        result = ev.call_function(function, Arguments(args, open=True), function.code.at, receiver)
        if isinstance(receiver, Object):
            for base in receiver.bases:
                if OPAQUE_LOOPS.get(base, {}).get(function.code.name) == "returns-loss":
                    ev.emit(Backward, function.code.at, loss=result, by_framework=True)
                    return
        ev.emit(Returned, function.code.at, value=result)


def _prototype(ev: Evaluator, path: str, cls: ClassValue) -> Object | None:
    with ev.module_frame(path):
        return classes.prototype(ev, cls)


def _training(ev: Evaluator, path: str, entry: str, nodes: list[Node], start: int) -> Training:
    made = ev.objects[start:]
    for one in made:
        one.attributes = ev.store.owned(one.uid)
    return Training(path, entry, nodes, tuple(made))


def _is_made(ev: Evaluator, cls: ClassValue) -> bool:
    init = classes.class_attribute(ev, cls, "__init__")
    return isinstance(init, FunctionValue) and id(init.code) in ev.reached


def _classes(ev: Evaluator, path: str) -> Iterator[ClassValue]:
    env = ev.module(path)
    for value in list(ev.store.owned(env.uid).values()):
        if isinstance(value, ClassValue) and value.env.path == path:
            yield value


def _functions(ev: Evaluator, path: str) -> Iterator[tuple[FunctionValue, ClassValue | None]]:
    env = ev.module(path)
    for value in list(ev.store.owned(env.uid).values()):
        if isinstance(value, FunctionValue) and value.env.path == path:
            yield value, None
        elif isinstance(value, ClassValue) and value.env.path == path:
            for method in list(ev.store.owned(value.env.uid).values()):
                if isinstance(method, FunctionValue) and method.owner is value:
                    yield method, value
