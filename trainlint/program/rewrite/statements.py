"""Changes of statements, made: inserted, moved to the front of a method, put below a `with`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from trainlint.finding import Place
from trainlint.fix import BeginWith, DropStatement, Insert, MoveLast, PutUnder
from trainlint.program.rewrite.changes import CannotBeMade, Replacement, filled
from trainlint.program.rewrite.names import Names
from trainlint.program.rewrite.patterns import Found, found
from trainlint.program.rewrite.tree import Tree

_HARMLESS = {"torch", "len", "isinstance", "hasattr", "getattr", "int", "bool"}
"""Packages and functions that only look."""


def inserted(change: Insert, tree: Tree, names: Names) -> Replacement:
    here, there = tree.expression(change.at), tree.expression(change.where)
    if here is None or there is None or _function(tree, here) is not _function(tree, there):
        raise CannotBeMade
    match = next((one for one in (found(each, there, names) for each in change.patterns) if one), None)
    if match is None or not isinstance(tree.parent(there), cst.Expr):
        raise CannotBeMade
    line = _line(tree, here)
    small = next(one for one in tree.around(here) if isinstance(one, cst.BaseSmallStatement))
    if small is not line.body[0 if change.side == "before" else -1]:
        raise CannotBeMade
    new, imports = filled(change.statement, match, names, here)
    assert isinstance(new, cst.BaseExpression)
    statement = cst.SimpleStatementLine([cst.Expr(new)])
    if change.side == "after":
        return Replacement(line, [line, statement], imports)
    first = statement.with_changes(leading_lines=line.leading_lines)
    return Replacement(line, [first, line.with_changes(leading_lines=[])], imports)


def begun_with(change: BeginWith, tree: Tree, names: Names) -> Replacement:
    node = tree.expression(change.at)
    function = _function(tree, node) if node is not None else None
    if not isinstance(function, cst.FunctionDef) or not isinstance(function.body, cst.IndentedBlock):
        raise CannotBeMade
    statements = list(function.body.body)
    moved = next((one for one in statements if _is_one_of(one, change.same, names)), None)
    if moved is not None:
        statements.remove(moved)
    elif not _may_be_new(function, change, tree, names):
        raise CannotBeMade
    else:
        moved = cst.parse_statement(change.statement)
    assert isinstance(moved, cst.SimpleStatementLine)
    first = 1 if statements and function.get_docstring() is not None else 0
    statements.insert(first, moved.with_changes(leading_lines=[]))
    return Replacement(function.body, function.body.with_changes(body=statements))


def dropped(change: DropStatement, tree: Tree, names: Names) -> Replacement:
    line: cst.CSTNode = _line_alone(tree, change.at)
    block = tree.parent(line)
    while isinstance(block, cst.IndentedBlock) and len(block.body) == 1:
        line = tree.parent(block)
        is_elif = isinstance(tree.parent(line), cst.If)
        if not isinstance(line, cst.If) or line.orelse is not None or is_elif or _does_more(line.test, names):
            raise CannotBeMade
        block = tree.parent(line)
    return Replacement(line, [])


def moved_last(change: MoveLast, tree: Tree, names: Names) -> Replacement:
    line = _line_alone(tree, change.at)
    block = tree.parent(line)
    if not isinstance(block, cst.IndentedBlock) or not isinstance(tree.parent(block), (cst.For, cst.While)):
        raise CannotBeMade
    others = [one for one in block.body if one is not line]
    behind = others[next(number for number, one in enumerate(block.body) if one is line) :]
    if any(map(_may_leave, behind)):
        raise CannotBeMade
    return Replacement(block, block.with_changes(body=[*others, line]))


def _line_alone(tree: Tree, at: Place) -> cst.SimpleStatementLine:
    """The line that holds the call at a place, and nothing else."""
    call = tree.call(at)
    if call is None or not isinstance(tree.parent(call), cst.Expr):
        raise CannotBeMade
    line = _line(tree, call)
    if len(line.body) > 1:
        raise CannotBeMade
    return line


def put_under(change: PutUnder, tree: Tree, names: Names) -> Replacement:
    node = tree.expression(change.at)
    if node is None:
        raise CannotBeMade
    statement = _loop(tree, node)
    if any(isinstance(one, cst.Yield) for one in _inner(statement)):
        raise CannotBeMade  # whoever asks for the next would do its own work below the context
    context, imports = filled(change.context, Found(), names, statement)
    assert isinstance(context, cst.BaseExpression)
    block = cst.IndentedBlock([statement.with_changes(leading_lines=[])])
    under = cst.With([cst.WithItem(context)], block, leading_lines=statement.leading_lines)
    return Replacement(statement, under, imports)


def _inner(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and what is in it, without the bodies of functions."""
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        if not isinstance(one, (cst.FunctionDef, cst.Lambda)):
            pending.extend(one.children)


def _may_leave(node: cst.CSTNode) -> bool:
    """Whether an iteration of the loop around may end there."""
    if isinstance(node, (cst.Return, cst.Break, cst.Continue)):
        return True
    if isinstance(node, (cst.For, cst.While)):
        return any(isinstance(one, cst.Return) for one in _inner(node))
    return not isinstance(node, cst.FunctionDef) and any(map(_may_leave, node.children))


def _does_more(test: cst.BaseExpression, names: Names) -> bool:
    """Whether a condition may do something, as a call of what is not torch's may."""
    calls = (one for one in _inner(test) if isinstance(one, (cst.Call, cst.NamedExpr, cst.Await, cst.Yield)))
    return not all(
        isinstance(one, cst.Call) and (names.full(one.func) or "").split(".")[0] in _HARMLESS for one in calls
    )


def _loop(tree: Tree, node: cst.CSTNode) -> cst.For | cst.While | cst.SimpleStatementLine:
    """The innermost loop in the same function, or else the line. One that trains raises CannotBeMade."""
    for one in tree.around(node):
        if isinstance(one, cst.FunctionDef):
            break
        if isinstance(one, (cst.For, cst.While)):
            if one.body is not None and ".backward(" in tree.module.code_for_node(one):
                break
            return one
    return _line(tree, node)


def _line(tree: Tree, node: cst.CSTNode) -> cst.SimpleStatementLine:
    for one in tree.around(node):
        if isinstance(one, cst.SimpleStatementLine):
            return one
        if isinstance(one, (cst.BaseCompoundStatement, cst.SimpleStatementSuite)):
            break
    raise CannotBeMade


def _function(tree: Tree, node: cst.CSTNode) -> cst.CSTNode:
    """The function around a node, or the module."""
    return next(
        one for one in tree.around(node) if isinstance(one, (cst.FunctionDef, cst.Lambda, cst.Module))
    )


def _is_one_of(statement: cst.CSTNode, patterns: tuple[str, ...], names: Names) -> bool:
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=value)]):
            return any(found(one, value, names) for one in patterns)
    return False


def _may_be_new(function: cst.FunctionDef, change: BeginWith, tree: Tree, names: Names) -> bool:
    """Whether nothing in the method does it already, in another way, and its class asks for no more."""
    method = change.statement.rpartition(".")[2].partition("(")[0]
    cls = next((one for one in tree.around(function) if isinstance(one, cst.ClassDef)), None)
    return (
        cls is not None
        and function.name.value == method
        and [names.full(one.value) for one in cls.bases] == [change.base]
        and f".{method}(" not in tree.module.code_for_node(function.body)
    )
