"""What the patterns of a `match` statement ask of the subject, and what they bind."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trainlint.program.source import syntax as s
from trainlint.program.source.literals import CONSTANTS, literal
from trainlint.program.source.parser import nodes as cst

if TYPE_CHECKING:
    import libcst as cst

_LITERALS = (cst.SimpleString, cst.Integer, cst.Float)
_OF_ITSELF = frozenset("bool bytearray bytes dict float frozenset int list set str tuple".split())
"""Types of which `str(name)` binds the whole."""


@dataclass
class Pattern:
    """What a pattern asks and binds. Where it is not `told`, it asks more than is said here."""

    binds: list[s.Binding] = field(default_factory=list)
    asks: list[s.Asked] = field(default_factory=list)
    told: bool = True


def read(pattern: Any, at: s.Span) -> Pattern:
    found = Pattern()
    _read(found, pattern, (), at)
    return found


def _read(found: Pattern, pattern: Any, steps: s.Steps, at: s.Span) -> None:
    match pattern:
        case cst.MatchAs(pattern=inner, name=name):
            if name is not None:
                found.binds.append(s.Binding(name.value, steps))
            if inner is not None:
                _read(found, inner, steps, at)
        case cst.MatchValue() | cst.MatchSingleton():
            _ask_for(found, [pattern], steps)
        case cst.MatchOr(patterns=several):
            _read_several(found, [one.pattern for one in several], steps, at)
        case cst.MatchMapping():
            _read_mapping(found, pattern, steps, at)
        case cst.MatchClass():
            _read_class(found, pattern, steps, at)
        case cst.MatchList() | cst.MatchTuple():
            _read_sequence(found, pattern.patterns, steps, at)
        case _:
            found.told = False


def _ask_for(found: Pattern, patterns: Iterable[Any], steps: s.Steps) -> None:
    """The subject, or a part of it, is one of some constants."""
    values = [_constant(one.value) for one in patterns]
    if ... in values:
        found.told = False
    else:
        found.asks.append(s.Asked(steps, "one of", tuple(values)))


def _constant(node: Any) -> Any:
    """The value of a constant; `...` of any other expression."""
    match node:
        case cst.Name(value=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            value = _constant(inner)
            return -value if isinstance(value, (int, float)) else ...
    return literal(node.value) if isinstance(node, _LITERALS) else ...


def _read_several(found: Pattern, patterns: list[Any], steps: s.Steps, at: s.Span) -> None:
    """`A() | B()`: only what all of them bind in the same way is known."""
    if all(isinstance(one, (cst.MatchValue, cst.MatchSingleton)) for one in patterns):
        _ask_for(found, patterns, steps)
        return
    ways = [Pattern() for _ in patterns]
    for way, one in zip(ways, patterns, strict=True):
        _read(way, one, steps, at)
    found.binds += [one for one in ways[0].binds if all(one in way.binds for way in ways)]
    found.told = False


def _read_mapping(found: Pattern, pattern: Any, steps: s.Steps, at: s.Span) -> None:
    keys: list[Any] = []
    for one in pattern.elements:
        key = _constant(one.key)
        if key is ...:
            found.told = False
            continue
        keys.append(key)
        found.asks.append(s.Asked(steps, "holds", key))
        _read(found, one.pattern, (*steps, ("key", key)), at)
    if not keys:
        found.asks.append(s.Asked(steps, "is a dict"))
    rest = getattr(pattern, "rest", None)  # which the parser leaves out
    if rest is not None:
        found.binds.append(s.Binding(rest.value, (*steps, ("without", tuple(keys)))))


def _read_class(found: Pattern, pattern: Any, steps: s.Steps, at: s.Span) -> None:
    found.asks.append(s.Asked(steps, "is a", _spelt(pattern.cls, at)))
    is_builtin = isinstance(pattern.cls, cst.Name) and pattern.cls.value in _OF_ITSELF & vars(builtins).keys()
    for place, one in enumerate(pattern.patterns):
        _read(found, one.value, steps if is_builtin else (*steps, ("field", place)), at)
    for one in pattern.kwds:
        _read(found, one.pattern, (*steps, ("attribute", one.key.value)), at)


def _spelt(node: Any, at: s.Span) -> s.Expr:
    """A dotted name as an expression."""
    if isinstance(node, cst.Attribute):
        return s.Attribute(_spelt(node.value, at), node.attr.value, at)
    return s.Name(node.value, at)


def _read_sequence(found: Pattern, patterns: Any, steps: s.Steps, at: s.Span) -> None:
    starred = [place for place, one in enumerate(patterns) if isinstance(one, cst.MatchStar)]
    found.asks.append(s.Asked(steps, "is as long", (len(patterns) - len(starred), bool(starred))))
    for place, one in enumerate(patterns):
        is_behind = bool(starred) and place > starred[0]
        number = place - len(patterns) if is_behind else place
        if not isinstance(one, cst.MatchStar):
            _read(found, one.value, (*steps, ("place", number)), at)
        elif one.name is not None:
            found.binds.append(
                s.Binding(one.name.value, (*steps, ("between", (place, len(patterns) - place - 1))))
            )
