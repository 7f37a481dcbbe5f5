"""What stands in the source at a place that ran: the loops around it, its text, the variable it adds to."""

from __future__ import annotations

import ast
import itertools
import linecache
import os
from collections.abc import Iterator

from trainlint.finding import Place

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_CONSTRUCTORS = frozenset(
    "Tensor FloatTensor DoubleTensor HalfTensor LongTensor Variable from_numpy as_tensor tensor".split()
)


class SourceMap:
    """Looks places up in the files that they are in."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._trees: dict[str, ast.Module | None] = {}
        self._found: dict[Place, tuple[ast.AST, ...]] = {}

    def loops(self, place: Place) -> list[Place]:
        """The heads of the loops around a place, in its own function, outermost first."""
        found: list[Place] = []
        for node, inner in _pairs(self._path(place)):
            if isinstance(node, _SCOPES):
                found = []
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)) and inner in node.body:
                found.append(self._place(place.path, node, node.lineno))
        return found

    def text(self, place: Place) -> str:
        """Short text of the expression at a place, such as `F.softmax(…)`."""
        nodes = self._path(place)
        node = nodes[-1] if nodes else None
        if isinstance(node, ast.Call):
            return f"{ast.unparse(node.func)}(…)"
        if isinstance(node, ast.expr):
            text = ast.unparse(node)
            return text if len(text) <= 60 else text[:57] + "…"
        lines = self._lines(place.path)
        return lines[place.line - 1].strip()[:60] if place.line <= len(lines) else ""

    def target(self, place: Place) -> str:
        """What the augmented assignment at a place adds to."""
        for node in reversed(self._path(place)):
            if isinstance(node, ast.AugAssign):
                return ast.unparse(node.target)
        return ""

    def gives(self, place: Place, name: str, position: int) -> bool:
        """Whether the call at a place says what an argument is to be."""
        nodes = self._path(place)
        call = nodes[-1] if nodes else None
        if not isinstance(call, ast.Call):
            return True
        return (
            len(call.args) > position
            or any(isinstance(one, ast.Starred) for one in call.args)
            or any(one.arg in (name, None) for one in call.keywords)
        )

    def repeats(self, path: str) -> bool:
        """Whether anything is put several times into a list anywhere in a file: `[layer] * n`, `[layer for _ in range(n)]`."""
        tree = self._tree(path)
        return tree is not None and any(map(_repeats, ast.walk(tree)))

    def constructor(self, place: Place) -> tuple[Place, str] | None:
        """The call of a tensor's constructor around an expression: its place, and the constructor's name."""
        for node in reversed(self._path(place)[:-1]):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func).rpartition(".")[2]
                if name in _CONSTRUCTORS:
                    return self._place(place.path, node, node.end_lineno or node.lineno), name
        return None

    def _place(self, path: str, node: ast.stmt | ast.expr, end: int) -> Place:
        column = node.col_offset + 1
        if end == node.end_lineno and isinstance(node, ast.expr):
            return Place(path, node.lineno, column, end, (node.end_col_offset or 0) + 1)
        lines = self._lines(path)
        return Place(
            path, node.lineno, column, end, len(lines[end - 1].rstrip()) + 1 if end <= len(lines) else column
        )

    def _path(self, place: Place) -> tuple[ast.AST, ...]:
        """The nodes around a place, from the module down to the smallest that holds it."""
        known = self._found.get(place)
        if known is None:
            tree = self._tree(place.path)
            known = self._found[place] = tuple(_down(tree, place)) if tree is not None else ()
        return known

    def _tree(self, path: str) -> ast.Module | None:
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse("".join(self._lines(path)))
            except (SyntaxError, ValueError, RecursionError):
                self._trees[path] = None
        return self._trees[path]

    def _lines(self, path: str) -> list[str]:
        return linecache.getlines(path if path.startswith("<") else os.path.join(self._folder, path))


def _down(node: ast.AST, place: Place) -> Iterator[ast.AST]:
    """From a node to the smallest inside it that holds a place; by lines alone where no columns are known."""
    exact = (place.end_line, place.end_column) != (place.line, place.column)
    while True:
        yield node
        for child in ast.iter_child_nodes(node):
            if _holds(child, place, exact):
                node = child
                break
        else:
            return


def _holds(node: ast.AST, place: Place, exact: bool) -> bool:
    if not isinstance(node, (ast.stmt, ast.expr)):
        # a `with` item, an argument or a handler: what it holds decides
        return any(_holds(child, place, exact) for child in ast.iter_child_nodes(node))
    if not exact:
        return isinstance(node, ast.stmt) and node.lineno <= place.line <= (node.end_lineno or node.lineno)
    start = (node.lineno, node.col_offset + 1)
    end = (node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1)
    decorated = isinstance(node, (ast.FunctionDef, ast.ClassDef)) and any(
        _holds(one, place, exact) for one in node.decorator_list
    )
    return decorated or (start <= (place.line, place.column) and (place.end_line, place.end_column) <= end)


def _pairs(nodes: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, ast.AST]]:
    return itertools.pairwise(nodes)


def _repeats(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return isinstance(left, (ast.List, ast.Tuple)) or isinstance(right, (ast.List, ast.Tuple))
        case ast.ListComp(elt=ast.Name(id=name)) | ast.GeneratorExp(elt=ast.Name(id=name)):
            bound = {
                one.id
                for each in node.generators
                for one in ast.walk(each.target)
                if isinstance(one, ast.Name)
            }
            return name not in bound
    return False
