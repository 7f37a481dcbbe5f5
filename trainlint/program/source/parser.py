"""libcst's parser, without the rest of libcst where that can be.

The parser is native code. It makes every node by calling a class of the module that is called `libcst` at that
moment. Importing libcst takes as long as checking a file, for the sake of what its nodes can do; a tree that is
read once, and in one place, needs nodes that can do nothing. So it is handed a module of such nodes. Where
libcst has been imported already, or makes its nodes in another way one day, its own are used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType, SimpleNamespace
from typing import Any

_UNREAD = (
    "AssignEqual Colon Comment Dot EmptyLine LeftCurlyBrace LeftParen LeftSquareBracket Newline "
    "ParenthesizedWhitespace RightCurlyBrace RightParen RightSquareBracket Semicolon SimpleWhitespace "
    "TrailingWhitespace"
).split()
"""More than half of all nodes: what stands between those that are read. How many there are is all that counts."""

_MAY_LACK = (
    "annotation asname cause comma default exc finalbody format_spec guard inner_for_in keyword lower lpar module msg "
    "name orelse pattern returns star_arg star_kwarg step type upper value"
).split()
"""Fields that are not handed over where there is nothing."""


class Node(SimpleNamespace):
    """A node with the fields that it was given."""

    @property
    def children(self) -> Iterator[Node]:
        """The nodes that it is directly made of."""
        for held in vars(self).values():
            parts = held if isinstance(held, (list, tuple)) else (held,)
            yield from (one for one in parts if isinstance(one, Node))


for _name in _MAY_LACK:
    setattr(Node, _name, None)


class _SyntaxError(Exception):
    def __init__(self, message: str, *, lines: object, raw_line: int, raw_column: int) -> None:
        super().__init__(message)
        self.message = message
        self.raw_line = raw_line


def parse(text: str) -> Any:
    """The tree of a file's text. Raises `nodes.ParserSyntaxError`, and RecursionError."""
    return _parse(text)


def _plain() -> ModuleType:
    """A module in place of libcst, that has every class of nodes that it is asked for."""
    spec = find_spec("libcst")
    assert spec is not None
    spec._initializing = False  # type: ignore[attr-defined]  # or each import of it, one for each node, looks in vain
    module: Any = module_from_spec(spec)

    def make(name: str) -> type[Node]:
        if name.startswith("__"):
            raise AttributeError(name)
        kind = type(name, (Node,), {})
        setattr(module, name, kind)
        return kind

    module.__getattr__ = make
    module.ParserSyntaxError = _SyntaxError
    for name in _UNREAD:
        setattr(module, name, "".format)  # takes anything, keeps nothing
    return module  # type: ignore[no-any-return]


@contextmanager
def _called_libcst(module: ModuleType) -> Iterator[None]:
    before = sys.modules.get("libcst")
    sys.modules["libcst"] = module
    try:
        yield
    finally:
        if before is None:
            del sys.modules["libcst"]
        else:
            sys.modules["libcst"] = before


def _with_plain_nodes() -> tuple[Any, Any]:
    """Nodes and a parser that makes them. Raises where this libcst does not work so."""
    plain = _plain()
    with _called_libcst(plain):
        native = import_module("libcst.native")

    def parse(text: str) -> Any:
        with _called_libcst(plain):
            return native.parse_module(text)

    tree = parse("x = 1\n")
    if tree.body[0].body[0].value.value != "1":
        raise ValueError(tree)
    return plain, parse


def _with_own_nodes() -> tuple[Any, Any]:
    import libcst

    def parse(text: str) -> Any:
        checked = libcst.CSTNode.__post_init__
        # Each node's check of itself guards trees made by hand, and costs a quarter of a parse.
        libcst.CSTNode.__post_init__ = lambda self: None  # type: ignore[method-assign]
        try:
            return libcst.parse_module(text)
        finally:
            libcst.CSTNode.__post_init__ = checked  # type: ignore[method-assign]

    return libcst, parse


def _chosen() -> tuple[Any, Any]:
    if "libcst" in sys.modules:
        return _with_own_nodes()
    try:
        return _with_plain_nodes()
    except Exception:  # whatever a later libcst raises where it finds too little
        return _with_own_nodes()


nodes, _parse = _chosen()
"""The classes of nodes, by name."""
