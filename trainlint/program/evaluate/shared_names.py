"""Constants that functions change for others: with `global` a name of the file, with `nonlocal` one of the function around."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainlint.facts.model.values import Carried, Constant
from trainlint.program.evaluate.siblings import look_at
from trainlint.program.evaluate.values import Env
from trainlint.program.source import shape
from trainlint.program.source import syntax as s
from trainlint.program.source.walking import walk

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


class SharedNames:
    """What is known of code, until it is forgotten."""

    def __init__(self) -> None:
        self._inner: dict[int, tuple[s.Function, ...]] = {}
        self._declared: dict[tuple[str, str, int], tuple[str, ...]] = {}

    def forget_code(self) -> None:
        self._inner.clear()
        self._declared.clear()

    def inner(self, code: s.Function) -> tuple[s.Function, ...]:
        """The functions in a function, if any of them sets a name of it."""
        found = self._inner.get(id(code))
        if found is None:
            found = tuple([one for one in code.body if isinstance(one, s.Function)])
            if not any(any(_declared_in("nonlocal", one)) for one in found):
                found = ()
            self._inner[id(code)] = found
        return found

    def declared(
        self, kind: str, path: str, functions: tuple[s.Function, ...], body: s.Block, called: frozenset[str]
    ) -> tuple[str, ...]:
        """The names of another scope that functions set which a block calls, itself or through others."""
        key = (kind, path, id(body))
        found = self._declared.get(key)
        if found is None:
            found = self._declared[key] = tuple(sorted({*_declared(kind, functions, called)}))
        return found


def changed_by_calls(ev: Evaluator, body: s.Block) -> list[tuple[Env, str]]:
    """The constants outside a block that functions change which it calls, itself or through others, and the scope of each."""
    code = ev.frames[-1].code
    inner = ev.shared_names.inner(code) if code is not None else ()
    module = ev.project.modules.get(ev.env.path)
    if not inner and (module is None or not module.declared):
        return []
    found: list[tuple[Env, str]] = []
    path, called = ev.env.path, ev.uses.names(body)
    if module is not None and module.declared:
        root = _root(ev.env)
        if any(_is_constant(ev, root, name) for name in module.declared):
            names = ev.shared_names.declared("global", path, look_at(ev, path), body, called)
            found += [(root, name) for name in names if _is_constant(ev, root, name)]
    if inner:
        names = ev.shared_names.declared("nonlocal", path, inner, body, called)
        found += [(ev.env, name) for name in names if _is_constant(ev, ev.env, name)]
    return found


def _root(env: Env) -> Env:
    while env.parent is not None:
        env = env.parent
    return env


def _is_constant(ev: Evaluator, env: Env, name: str) -> bool:
    held = ev.store.get((env.uid, name))
    while isinstance(held, Carried):  # by a loop around
        held = held.start
    return isinstance(held, Constant)


def _declared(kind: str, functions: Iterable[s.Function], called: Iterable[str]) -> Iterator[str]:
    """The names that functions declare to be of another scope which are among those called, or which those call."""
    named: dict[str, list[s.Function]] = {}
    for one in functions:
        named.setdefault(one.name, []).append(one)
    seen: set[str] = set()
    pending = set(called)
    while pending:
        name = pending.pop()
        seen.add(name)
        for function in named.get(name, ()):
            pending |= (function.names & named.keys()) - seen
            yield from _declared_in(kind, function)


def _declared_in(kind: str, function: s.Function) -> Iterator[str]:
    assigned = frozenset(shape.assigned(function.body))
    for node in walk(function.body):
        if isinstance(node, s.Scope) and node.kind == kind:
            yield from (name for name in node.names if name in assigned)
