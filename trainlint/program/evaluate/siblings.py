"""What a parameter is, by what other functions of its file do with one of the same name.

A function that evaluates a model may do nothing with it but call it. The function beside it that trains tells what `model` is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from trainlint.program.evaluate.classes import ancestry
from trainlint.program.evaluate.uses import Code
from trainlint.program.evaluate.values import ClassValue, FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.roles import Part
from trainlint.program.source.spelling import spelled
from trainlint.program.source.walking import walk

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_BARE = frozenset(
    "object abc.ABC typing.Generic typing.Protocol flwr.client.Client flwr.client.NumPyClient ray.tune.Trainable".split()
)
"""Bases that do nothing with a model."""


def part(ev: Evaluator, func: FunctionValue, name: str) -> Part | None:
    """The module that a parameter is in other functions of the file, if a function only calls it; None where none says so."""
    if not _is_called(func.code, name):
        return None
    beside = look_at(ev, func.env.path)
    found = [(one.name, said) for one in beside if (said := ev.roles.of(one).get(name)) is not None]
    if not found or any(said.role != "module" for _, said in found):
        return None
    switches = frozenset().union(*(said.switches for _, said in found))
    return Part("module", f"`{name}` in `{found[0][0]}`", switches)


def is_only_switched_on(ev: Evaluator, part: Part, path: str, owner: ClassValue | None = None) -> bool:
    """Whether code of a file switches a module to training mode, and nothing there, or in the files of a class's bases,
    switches any to evaluation mode. A base that is not in sight may do it."""
    if "train" not in part.switches:
        return False
    if owner is not None and _has_unseen_base(owner):
        return False
    return not _call(ev, {path, *_files(owner)} if owner is not None else {path}, "eval")


def sets_no_mode(ev: Evaluator, owner: ClassValue) -> bool:
    """Whether neither the files of a class and its bases nor whoever makes it by the class itself switch any module's mode."""
    return not _has_unseen_base(owner) and not _call(ev, _files(owner), "eval", "train")


def _has_unseen_base(owner: ClassValue) -> bool:
    return owner.has_unknown_base or bool(owner.library_bases - _BARE)


def _files(owner: ClassValue) -> set[str]:
    """The files of a class and its bases."""
    return {one.env.path for one in ancestry(owner)}


def _call(ev: Evaluator, paths: set[str], *names: str) -> bool:
    """Whether one of some files calls anything by one of these names."""
    for one in sorted(paths):
        look_at(ev, one)
    return any(name in ev.project.modules[one].called for one in paths for name in names)


def called_ones(ev: Evaluator, called: Iterable[Code]) -> list[s.Function]:
    """The code of functions that have been called."""
    places: dict[str, set[int]] = {}
    for path, start in called:
        places.setdefault(path, set()).add(start)
    return [
        one
        for path, starts in places.items()
        for one in _functions(ev.project.modules[path].body)
        if one.at[0] in starts
    ]


def _is_called(code: s.Function, name: str) -> bool:
    return any(isinstance(node, s.Call) and spelled(node.func) == name for node in walk(code.body))


def look_at(ev: Evaluator, path: str) -> tuple[s.Function, ...]:
    """All functions of a file: what follows from them changes with each of them."""
    found = tuple(_functions(ev.project.modules[path].body))
    ev.trace.uses.add(path)
    ev.trace.code.update((path, one.at[0]) for one in found)
    return found


def _functions(block: s.Block) -> Iterator[s.Function]:
    for node in block:
        if isinstance(node, s.Function):
            yield node
        elif isinstance(node, s.Class):
            yield from _functions(node.body)
