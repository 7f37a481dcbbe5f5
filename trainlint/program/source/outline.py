"""What the text of a file tells about it without being evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from trainlint.program.source import shape
from trainlint.program.source import syntax as s


class Outlined(NamedTuple):
    """A function or method: its name, where it begins, every name and attribute in it, and those that are its own."""

    name: str
    at: int
    names: frozenset[str]
    own: frozenset[str]

    @property
    def calls(self) -> frozenset[str]:
        """By what names it may call functions of its program, or hand them on."""
        return self.names - self.own


@dataclass(frozen=True)
class Outline:
    """A file as the rest of its program sees it."""

    functions: tuple[Outlined, ...]
    callables: tuple[tuple[str, frozenset[str]], ...]
    """Classes whose instances can be called, and every name in what that does."""
    called: frozenset[str]
    """The last names of all that is called in the file."""
    binds: frozenset[str]
    """Names that the file's own code binds."""
    stars: tuple[tuple[int, str], ...]
    """Star imports: level and module."""
    reads: frozenset[str]
    """Every attribute that the file reads."""
    has_tensor: bool
    """Whether it defines a class of the name `Tensor`."""


def outline(module: s.Module) -> Outline:
    return Outline(
        functions=tuple(Outlined(one.name, one.at[0], one.names, one.own) for one in _functions(module.body)),
        callables=tuple(_callables(module.body)),
        called=module.called,
        binds=frozenset(_bound(module.body)) | module.declared,
        stars=tuple((level, name) for level, name, names in module.imports if "*" in names),
        reads=module.reads,
        has_tensor=any(isinstance(node, s.Class) and node.name == "Tensor" for node in module.body),
    )


def _functions(block: s.Block) -> Iterator[s.Function]:
    for node in block:
        if isinstance(node, s.Function):
            yield node
        elif isinstance(node, s.Class):
            yield from _functions(node.body)
        elif isinstance(node, (s.If, s.For, s.While)):
            yield from _functions(node.body)
            yield from _functions(node.orelse)


def _callables(block: s.Block) -> Iterator[tuple[str, frozenset[str]]]:
    for node in block:
        if isinstance(node, s.Class):
            for one in node.body:
                if isinstance(one, s.Function) and one.name == "__call__":
                    yield node.name, one.names


def _bound(block: s.Block) -> Iterator[str]:
    yield from shape.assigned(block)
    yield from _defined(block)


def _defined(block: s.Block) -> Iterator[str]:
    """Names of functions, classes and imports."""
    for node in block:
        match node:
            case s.Function() | s.Class():
                yield node.name
            case s.Import():
                for name, alias in node.names:
                    yield alias or name.partition(".")[0]
            case s.ImportFrom():
                yield from (alias or name for name, alias in node.names if name != "*")
            case _:
                for part in shape.blocks(node):
                    yield from _defined(part)
