"""Where an import that a fix needs is put."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import libcst as cst

from trainlint.finding import Edit
from trainlint.program.rewrite.changes import CannotBeMade
from trainlint.program.rewrite.tree import Tree


def imported(module: str, tree: Tree) -> Edit:
    """`import module`, above what is imported from it, or else above all imports of the file.

    What is not of the standard library need not be there: it is imported only where something of it is.
    """
    own = None
    first: cst.SimpleStatementLine | None = None
    for line, statement in _imports(tree.module):
        first = first or line
        if module in _roots(statement):
            own = own or line
    is_of_stdlib = module in sys.stdlib_module_names
    before = own or first or next(_after_docstring(tree.module), None)
    if before is None or (own is None and not is_of_stdlib):
        raise CannotBeMade
    before = _below_stars(before, tree.module)
    end = tree.module.default_newline
    apart = own is None and not _is_of_stdlib(before)
    return tree.inserted(before, f"import {module}{end}{end if apart else ''}")


def _below_stars(before: cst.BaseStatement, module: cst.Module) -> cst.BaseStatement:
    """The statement, or the first one below every `import *` of the imports that follow: nobody knows what those bind."""
    first = next(number for number, line in enumerate(module.body) if line is before)
    for number, line in enumerate(module.body[first:], start=first):
        if not _is_import(line):
            break
        if _has_star(line):
            first = number + 1
    found = module.body[first] if first < len(module.body) else None
    if not isinstance(found, cst.BaseStatement):
        raise CannotBeMade
    return found


def _is_import(line: cst.CSTNode) -> bool:
    return isinstance(line, cst.SimpleStatementLine) and all(
        isinstance(one, (cst.Import, cst.ImportFrom)) for one in line.body
    )


def _has_star(line: cst.CSTNode) -> bool:
    return isinstance(line, cst.SimpleStatementLine) and any(
        isinstance(one, cst.ImportFrom) and isinstance(one.names, cst.ImportStar) for one in line.body
    )


def _is_of_stdlib(line: cst.BaseStatement) -> bool:
    match line:
        case cst.SimpleStatementLine(body=[cst.Import(names=[first, *_])]):
            return _root(first.name) in sys.stdlib_module_names
        case cst.SimpleStatementLine(body=[cst.ImportFrom(module=module, relative=())]):
            return _root(module) in sys.stdlib_module_names
    return False


def _imports(module: cst.Module) -> Iterator[tuple[cst.SimpleStatementLine, cst.Import | cst.ImportFrom]]:
    """The imports at the top of a file that can have others before them."""
    lines = [line for line in module.body if isinstance(line, cst.SimpleStatementLine)]
    for line in lines:
        for statement in line.body:
            is_from = isinstance(statement, cst.ImportFrom) and _root(statement.module) != "__future__"
            if isinstance(statement, cst.Import) or is_from:
                assert isinstance(statement, (cst.Import, cst.ImportFrom))
                yield line, statement


def _after_docstring(module: cst.Module) -> Iterator[cst.BaseStatement]:
    """The statements of a file that an import can stand before."""
    for number, line in enumerate(module.body):
        is_docstring = number == 0 and module.get_docstring() is not None
        is_future = isinstance(line, cst.SimpleStatementLine) and any(
            isinstance(one, cst.ImportFrom) and _root(one.module) == "__future__" for one in line.body
        )
        if not is_docstring and not is_future and isinstance(line, cst.BaseStatement):
            yield line


def _roots(statement: cst.Import | cst.ImportFrom) -> set[str]:
    """The packages that are imported from, by full name."""
    if isinstance(statement, cst.Import):
        return {_root(alias.name) for alias in statement.names}
    return set() if statement.relative else {_root(statement.module)}


def _root(node: cst.BaseExpression | None) -> str:
    while isinstance(node, cst.Attribute):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""
