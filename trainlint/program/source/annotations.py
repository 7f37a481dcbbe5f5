"""Annotations that are written as strings: `"Optimizer | None"`."""

from __future__ import annotations

import ast

from trainlint import limits
from trainlint.program.source import syntax as s


def written_out(text: str, at: s.Span) -> s.Expr | None:
    """The expression in a string, all at one place; None for what names no type."""
    if len(text) > limits.MAX_TEXT:
        return None
    try:
        return _expr(ast.parse(text.strip(), mode="eval").body, at)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _expr(node: ast.expr, at: s.Span) -> s.Expr | None:
    match node:
        case ast.Name(id=name):
            return s.Name(name, at)
        case ast.Constant(value=value) if value is None or isinstance(value, str):
            return s.Constant(value, at)
        case ast.Attribute(value=holder, attr=name) if (inner := _expr(holder, at)) is not None:
            return s.Attribute(inner, name, at)
        case ast.Subscript(value=holder, slice=index):
            inner, said = _expr(holder, at), _expr(index, at)
            return s.Subscript(inner, said, at) if inner is not None and said is not None else None
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            sides = [_expr(left, at), _expr(right, at)]
            return s.Operation("|", tuple(one for one in sides if one is not None), at)
        case ast.Tuple(elts=parts):
            items = [_expr(one, at) for one in parts]
            return s.Collection("tuple", tuple(one for one in items if one is not None), at)
    return None
