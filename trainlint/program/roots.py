"""The entry points of a program: module bodies first, then whatever functions nothing here calls."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from trainlint.facts.events import Backward, Returned
from trainlint.facts.torch_api import MODULE, OPAQUE_LOOPS
from trainlint.facts.training import Training
from trainlint.facts.values import Choice, Items, Object, Table, Value, parts
from trainlint.finding import Problem
from trainlint.program import classes, statements
from trainlint.program.evaluator import PART_STEPS, Evaluator, Root
from trainlint.program.relevance import Relevance, needs_instance
from trainlint.program.unread import unread
from trainlint.program.values import Arguments, ClassValue, FunctionValue


def trainings(ev: Evaluator, paths: Iterable[str], problems: dict[Problem, None]) -> Iterator[Training]:
    """What each entry point in these files does. One that cannot be evaluated is a problem of its file.

    A function is an entry point only if no other one calls it: what its callers hand it is known there.
    """
    paths = list(paths)
    prototypes: dict[int, Object | None] = {}
    for path in paths:
        with _caught(path, problems):
            ev.module(path)
        yield _training(ev, path, "program", ev.roots[path])
    for path in paths:
        for made in _classes(ev, path):
            if MODULE in made.library_bases and needs_instance(made.code) and not _is_made(ev, made):
                with _caught(path, problems):
                    yield _training(ev, path, "class", _make_prototype(ev, path, made, prototypes))
    relevance = Relevance(ev.project.modules.values())
    called = frozenset(name for path in paths for name in ev.project.modules[path].called)
    pending = [(path, function, cls) for path in paths for function, cls in _functions(ev, path)]
    for wanted in (False, True):
        for path, function, cls in pending:
            if (function.code.name in called) is not wanted or id(function.code) in ev.reached:
                continue
            init = classes.class_attribute(ev, cls, "__init__") if cls is not None else None
            if relevance.trains(function.code) or (
                isinstance(init, FunctionValue) and relevance.trains(init.code)
            ):
                with _caught(path, problems):
                    yield from _entered(ev, path, function, cls, prototypes)


@contextmanager
def _caught(path: str, problems: dict[Problem, None]) -> Iterator[None]:
    try:
        yield
    except RecursionError:
        problems[Problem(path, None, "nested too deeply to be followed")] = None
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = (
            f"cannot be followed, which is a bug in trainlint: {error!r} ({where.name}, line {where.lineno})"
        )
        problems[Problem(path, None, said[:300])] = None


def _make_prototype(ev: Evaluator, path: str, cls: ClassValue, prototypes: dict[int, Object | None]) -> Root:
    prototypes[cls.uid] = None

    def make() -> None:
        with ev.module_frame(path):
            prototypes[cls.uid] = classes.prototype(ev, cls)

    with ev.store.at_base():
        return ev.run_root(make, PART_STEPS)


def _entered(
    ev: Evaluator,
    path: str,
    function: FunctionValue,
    cls: ClassValue | None,
    prototypes: dict[int, Object | None],
) -> Iterator[Training]:
    receiver: Value | None = None
    if cls is not None and function.kind in ("function", "property"):
        if cls.uid not in prototypes:
            _make_prototype(ev, path, cls, prototypes)
        receiver = prototypes[cls.uid]
    with ev.store.layer():
        root = ev.run_root(lambda: _enter(ev, path, function, receiver), PART_STEPS)
        if isinstance(receiver, Object):
            _describe(ev, receiver)
        yield _training(ev, path, "function", root)


def _enter(ev: Evaluator, path: str, function: FunctionValue, receiver: Value | None) -> None:
    with ev.module_frame(path):
        args = (receiver,) if receiver is not None else ()
        given = Arguments(args, open=True)
        bases = receiver.bases if isinstance(receiver, Object) else frozenset()
        role = next(
            (role for base in bases if (role := OPAQUE_LOOPS.get(base, {}).get(function.code.name))), None
        )
        if role is None:
            result = ev.call_function(function, given, function.code.at, receiver)
            ev.emit(Returned, function.code.at, value=result)
            return
        with statements.loop(ev, function.code.at):
            result = ev.call_function(function, given, function.code.at, receiver)
            if role == "returns-loss":
                ev.emit(Backward, function.code.at, loss=result, accumulates=False, by_framework=True)


def _describe(ev: Evaluator, receiver: Object) -> None:
    """Say what an object that was made before holds now, and all that it holds."""
    pending: list[Value] = [receiver]
    seen: set[int] = set()
    while pending:
        one = pending.pop()
        if one.uid in seen:
            continue
        seen.add(one.uid)
        if isinstance(one, Object):
            one.attributes = ev.store.owned(one.uid)
            pending.extend(one.attributes.values())
        elif isinstance(one, (Items, Table, Choice)):
            pending.extend(parts(one))


def _training(ev: Evaluator, path: str, entry: str, root: Root) -> Training:
    for one in root.objects:
        one.attributes = ev.store.owned(one.uid)
    return Training(path, entry, root.nodes, tuple(root.objects), tuple(unread(ev, root.objects)))


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
