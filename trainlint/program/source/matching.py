"""`match` over plain values, as the chain of `if` and `elif` that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trainlint.program.source import syntax as s
from trainlint.program.source.parser import nodes as cst

Read = Callable[[cst.BaseExpression], s.Expr]


def asks_for_values(pattern: cst.MatchPattern) -> bool:
    """Whether a pattern is a value, `None`, `True` or `False`, one of several values, or `_`."""
    match pattern:
        case cst.MatchValue() | cst.MatchSingleton():
            return True
        case cst.MatchOr():
            return all(isinstance(one.pattern, cst.MatchValue) for one in pattern.patterns)
        case cst.MatchAs(pattern=None, name=None):
            return True
    return False


def fits_anything(pattern: cst.MatchPattern) -> bool:
    """Whether it is `_`, or a name."""
    match pattern:
        case cst.MatchAs(pattern=None):
            return True
    return False


def asked(pattern: cst.MatchPattern, subject: s.Expr, read: Read) -> s.Expr | None:
    """The test that a pattern of values is; None where anything fits."""
    match pattern:
        case cst.MatchValue():
            value = read(pattern.value)
            return s.Operation("==", (subject, value), value.at)
        case cst.MatchSingleton():
            value = read(pattern.value)
            return s.Operation("is", (subject, value), value.at)
        case cst.MatchOr():
            values = [read(one.pattern.value) for one in pattern.patterns]
            at = values[0].at[0], values[-1].at[1]
            return s.Operation("in", (subject, s.Collection("tuple", tuple(values), at)), at)
    return None


def chain(cases: Sequence[tuple[s.Expr | None, s.Block]]) -> s.If | None:
    """The chain of such tests; None where there is none."""
    rest: s.Block = ()
    for test, body in reversed(cases):
        rest = body if test is None else (s.If(test, body, rest, test.at),)
    return rest[0] if len(rest) == 1 and isinstance(rest[0], s.If) and cases[0][0] is not None else None
