"""What libcst's tokens stand for: operators, numbers and strings."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from trainlint.program.source.parser import nodes as cst

if TYPE_CHECKING:
    import libcst as cst

OPERATORS = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.Minus: "-",
    cst.Plus: "+",
    cst.BitInvert: "~",
    cst.Not: "not",
    cst.And: "and",
    cst.Or: "or",
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.In: "in",
    cst.NotIn: "not in",
    cst.Is: "is",
    cst.IsNot: "is not",
}

AUGMENTED = {
    "AddAssign": "+",
    "SubtractAssign": "-",
    "MultiplyAssign": "*",
    "DivideAssign": "/",
    "FloorDivideAssign": "//",
    "ModuloAssign": "%",
    "PowerAssign": "**",
    "MatrixMultiplyAssign": "@",
    "BitAndAssign": "&",
    "BitOrAssign": "|",
    "BitXorAssign": "^",
    "LeftShiftAssign": "<<",
    "RightShiftAssign": ">>",
}
CONSTANTS = {"None": None, "True": True, "False": False}


def literal(source: str) -> Any:
    """A number's or string's value; None for one that this Python does not accept."""
    if source.isdecimal() and source[0] != "0":
        return int(source)
    if source[0] in "\"'" and "\\" not in source and not source.startswith(('""', "''")):
        return source[1:-1]
    try:
        return ast.literal_eval(source)
    except (ValueError, SyntaxError):
        return None
