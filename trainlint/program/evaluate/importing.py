"""What imports bind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.values import Choice, Object, Value
from trainlint.program.evaluate import names
from trainlint.program.evaluate.values import FileModule, Imported, Library
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def import_statement(ev: Evaluator, node: s.Import) -> None:
    path = ev.env.path
    for name, alias in node.names:
        first = name.partition(".")[0]
        whole, package = ev.project.module(path, 0, name), ev.project.module(path, 0, first)
        if alias is not None:
            names.bind(ev, alias, FileModule(path=whole) if whole is not None else Library(name=name))
        elif package is not None:
            names.bind(ev, first, FileModule(path=package))
        elif whole is not None:
            names.bind(ev, first, _package(ev, name, whole))
        else:
            names.bind(ev, first, Library(name=first))


def _package(ev: Evaluator, name: str, file: str) -> Value:
    """`import a.b.c` where `a` has no `__init__`: a namespace that holds `b`, that holds `c`."""
    value: Value = FileModule(path=file)
    for part in reversed(name.split(".")[1:]):
        holder = Object(type="module")
        ev.store.set((holder.uid, part), value)
        value = holder
    return value


def from_statement(ev: Evaluator, node: s.ImportFrom) -> None:
    path = ev.env.path
    file = ev.project.module(path, node.level, node.module)
    for name, alias in node.names:
        if name == "*":
            if file is not None:
                _import_all(ev, file)
        elif file is not None:
            names.bind(ev, alias or name, Imported(path=file, name=name))
        else:
            inner = ev.project.module(path, node.level, f"{node.module}.{name}".strip("."))
            dotted = f"{node.module or '.'}.{name}"
            library = Library(name="torch" if dotted == "torch.torch" else dotted)
            names.bind(ev, alias or name, FileModule(path=inner) if inner is not None else library)


def _import_all(ev: Evaluator, file: str) -> None:
    ev.trace.lists.add(file)
    for name in sorted(ev.project.names(file)):
        if not name.startswith("_"):
            before = ev.store.get((ev.env.uid, name))
            is_plain = not isinstance(before, Choice)
            names.bind(ev, name, Imported(path=file, name=name, before=before if is_plain else None))
