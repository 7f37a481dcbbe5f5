"""A file's code with everything removed that cannot matter to training: plain, small, picklable.

`read` makes it from libcst's tree, once per file, and it is what the cache holds. Everything after
that (linking files, evaluating, facts) works on these nodes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

Span = tuple[int, int]
"""Offsets in characters of the first character and of the one after the last."""
DISPLAYS = "..."
"""A line after an expression, outside of all functions, whose value is shown there: at the end of a notebook's cell."""


@dataclass(slots=True)
class Name:
    name: str
    at: Span


@dataclass(slots=True)
class Attribute:
    value: Expr
    name: str
    at: Span


@dataclass(slots=True)
class Constant:
    value: Any
    at: Span


@dataclass(slots=True)
class Argument:
    """`keyword` is None for a positional argument; `star` is "", "*" or "**"."""

    value: Expr
    keyword: str | None
    star: str


@dataclass(slots=True)
class Call:
    func: Expr
    args: tuple[Argument, ...]
    at: Span


@dataclass(slots=True)
class Subscript:
    value: Expr
    index: Expr
    at: Span


@dataclass(slots=True)
class Collection:
    """A tuple, list or set display."""

    kind: str
    items: tuple[Expr, ...]
    at: Span


@dataclass(slots=True)
class Mapping:
    """A dict display; a key of None stands for `**value`."""

    items: tuple[tuple[Expr | None, Expr], ...]
    at: Span


@dataclass(slots=True)
class Operation:
    """A unary, binary or comparison operator, or `and`/`or`/`not`, by its spelling; `[:]` for a slice."""

    operator: str
    operands: tuple[Expr, ...]
    at: Span


@dataclass(slots=True)
class Conditional:
    test: Expr
    then: Expr
    otherwise: Expr
    at: Span


@dataclass(slots=True)
class Lambda:
    function: Function
    at: Span


@dataclass(slots=True)
class Starred:
    value: Expr
    at: Span


@dataclass(slots=True)
class Comprehension:
    """`kind` is "list", "set", "dict" or "generator"; `loops` from the outermost in."""

    kind: str
    key: Expr | None
    element: Expr
    loops: tuple[tuple[Expr, Expr, tuple[Expr, ...]], ...]
    at: Span


@dataclass(slots=True)
class Walrus:
    target: Expr
    value: Expr
    at: Span


@dataclass(slots=True)
class Text:
    """An f-string: its value is unknown, but what stands in it is evaluated. `head` and `tail` are what it begins and ends
    with."""

    parts: tuple[Expr, ...]
    at: Span
    head: str = ""
    tail: str = ""


@dataclass(slots=True)
class Yield:
    """`is_from` marks `yield from`."""

    value: Expr | None
    at: Span
    is_from: bool = False


Expr = (
    Name
    | Attribute
    | Constant
    | Call
    | Subscript
    | Collection
    | Mapping
    | Operation
    | Conditional
    | Lambda
    | Starred
    | Comprehension
    | Walrus
    | Text
    | Yield
)


@dataclass(slots=True)
class Assign:
    """`a = b = value`, and `a: annotation = value`; a bare annotation has no value."""

    targets: tuple[Expr, ...]
    value: Expr | None
    annotation: Expr | None
    at: Span


@dataclass(slots=True)
class AugmentedAssign:
    target: Expr
    operator: str
    value: Expr
    at: Span


@dataclass(slots=True)
class Evaluate:
    value: Expr
    at: Span


@dataclass(slots=True)
class Assert:
    test: Expr
    at: Span


@dataclass(slots=True)
class Return:
    value: Expr | None
    at: Span


@dataclass(slots=True)
class Raise:
    value: Expr | None
    at: Span


@dataclass(slots=True)
class Jump:
    """`break` or `continue`."""

    kind: str
    at: Span


@dataclass(slots=True)
class Delete:
    targets: tuple[Expr, ...]
    at: Span


@dataclass(slots=True)
class If:
    test: Expr
    body: Block
    orelse: Block
    at: Span


@dataclass(slots=True)
class For:
    target: Expr
    iterable: Expr
    body: Block
    orelse: Block
    at: Span


@dataclass(slots=True)
class While:
    test: Expr
    body: Block
    orelse: Block
    at: Span


@dataclass(slots=True)
class With:
    items: tuple[tuple[Expr, Expr | None], ...]
    body: Block
    at: Span


@dataclass(slots=True)
class Handler:
    catches: Expr | None
    name: str | None
    body: Block


@dataclass(slots=True)
class Try:
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block
    at: Span


Steps = tuple[tuple[str, Any], ...]
"""The way to a part of a value: ("key", "lr"), ("attribute", "lr"), ("field", 0) of a record, ("place", 0) of a list, what is
"between" so many first and last items, and a dict "without" some keys."""


@dataclass(slots=True)
class Binding:
    """A name in a pattern, and the part of the subject that it is bound to."""

    name: str
    steps: Steps


@dataclass(slots=True)
class Asked:
    """What a pattern asks of a part of the subject: to be "one of" some constants, "is a" class, "holds" a key, "is a dict", or
    "is as long": so many items, and whether there may be more."""

    steps: Steps
    kind: str
    told: Any = None


@dataclass(slots=True)
class Case:
    """One way of a `match` statement."""

    names: tuple[str, ...]
    body: Block
    is_any: bool
    """Whether its pattern fits anything: `case _`, `case other`."""
    binds: tuple[Binding, ...] = ()
    asks: tuple[Asked, ...] = ()
    is_told: bool = True
    """Whether its pattern asks for nothing else."""
    guard: Expr | None = None


@dataclass(slots=True)
class Match:
    """A `match` statement over more than plain values."""

    subject: Expr
    cases: tuple[Case, ...]
    at: Span


@dataclass(slots=True)
class Parameter:
    """`star` is "", "*" or "**"; `keyword_only` follows a bare `*` or `*args`."""

    name: str
    default: Expr | None
    annotation: Expr | None
    star: str = ""
    keyword_only: bool = False


class _MayBePacked:
    """Code whose body may be held as bytes until somebody asks for it: see `packing`."""

    __slots__ = ("packed",)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Called for attributes alone that are not set."""
            if name != "body":
                raise AttributeError(name)
            from trainlint.program.source.storage import unpacked_body

            self.body = unpacked_body(self.packed)
            return self.body


DISCARDS = "(discards)"
"""Stands among the names of a function that does nothing with what `x.squeeze(0)` or the like returns, or that may give a
variable of a loop a value that nothing reads."""

HANDS_OUT = "(hands out)"
"""Stands among the names of a function that does nothing with what it makes but hand it to its caller: see `handing_out`."""


@dataclass(slots=True)
class Function(_MayBePacked):
    """A `def`, or a lambda whose body is one `Return`."""

    name: str
    parameters: tuple[Parameter, ...]
    body: Block
    decorators: tuple[Expr, ...]
    is_generator: bool
    names: frozenset[str]
    """Every name, attribute and keyword in the function and its decorators, nested functions included."""
    at: Span
    returns: Expr | None = None
    """The annotation of its result."""
    own: frozenset[str] = frozenset()
    """Those of the names that nothing outside can be meant by: its variables, parameters and keywords."""


@dataclass(slots=True)
class Class:
    name: str
    bases: tuple[Argument, ...]
    body: Block
    decorators: tuple[Expr, ...]
    at: Span


@dataclass(slots=True)
class Import:
    """`import a.b as c`: names are pairs of ("a.b", "c" or None)."""

    names: tuple[tuple[str, str | None], ...]
    at: Span


@dataclass(slots=True)
class ImportFrom:
    """`from ..a import b as c`: level 2, module "a", names (("b", "c"),); `*` for a star import."""

    level: int
    module: str
    names: tuple[tuple[str, str | None], ...]
    at: Span


@dataclass(slots=True)
class Scope:
    """`global` and `nonlocal`."""

    kind: str
    names: tuple[str, ...]
    at: Span


Statement = (
    Assign
    | AugmentedAssign
    | Evaluate
    | Assert
    | Return
    | Raise
    | Jump
    | Delete
    | If
    | For
    | While
    | With
    | Try
    | Match
    | Function
    | Class
    | Import
    | ImportFrom
    | Scope
)

Block = tuple[Statement, ...]


@dataclass(slots=True)
class Module:
    """One file, read."""

    body: Block
    lines: Sequence[int]
    """Offset of the first character of every line."""
    imports: tuple[tuple[int, str, tuple[str, ...]], ...]
    """Every import in the file, at any depth: level, module, names."""
    called: frozenset[str]
    """The last names of all that is called in the file."""
    reads: frozenset[str] = frozenset()
    """Every attribute that the file reads, every word of its short strings, which may be the name of one, and of
    `facts.api.spoken.SPOKEN` what it speaks of."""
    declared: frozenset[str] = frozenset()
    """Names that functions of the file declare to be global."""
