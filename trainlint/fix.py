"""How rules describe the mending of a finding: as changes of source, without a syntax tree.

The `fix.py` of a rule's folder holds one function, `fix`, which is handed a finding and yields proposals.
The first one whose changes can all be made at the finding's places is the fix.

Patterns and templates are Python. A name that begins with an underscore stands for any expression,
`*_more` for all other arguments of a call, and `**_more` for them if they are given by name. Other names are full names: `torch.log(_x)` also finds `log(a)`
below `from torch import log`, and in a template becomes what the file calls it, with an import where there
is none. `_the_...` stands for names and attributes alone, so that a template can say it twice, and `_imported` for
what is imported from torch: not for a choice between functions, nor for one that has got arguments already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from trainlint.finding import Applicability, Finding, Place


@dataclass(frozen=True)
class Rewrite:
    """The expression at a place becomes the template of the first pattern that it is.

    A pattern that is an assignment is looked for in the statement around the place.

    Args:
        for_one: whether the change is meant for one reader of the value: it is not made where a variable holds the value and
            is read more than once.
    """

    at: Place
    cases: tuple[tuple[str, str], ...]
    for_one: bool = False


@dataclass(frozen=True)
class SetArgument:
    """The call at a place gets a named argument.

    Args:
        value: a template. In it, `_self` is the module whose method holds the call, `_given` is the argument
            as it stands, and `_p` is what another argument called `p` is given.
        position: where the argument may also be given without its name.
        given: a pattern that the argument has to be now; None if it must not be there yet.
    """

    at: Place
    name: str
    value: str
    position: int | None = None
    given: str | None = None


@dataclass(frozen=True)
class DropArgument:
    """The call at a place loses a named argument, which has to be what the pattern `given` says."""

    at: Place
    name: str
    given: str


@dataclass(frozen=True)
class SwapArguments:
    """The first two arguments of the call at a place change places."""

    at: Place


@dataclass(frozen=True)
class DropItem:
    """The expression at a place is taken out of the arguments or the list that it stands in."""

    at: Place
    of: str
    """Full name of the class or function whose arguments they are."""


@dataclass(frozen=True)
class Insert:
    """A statement is put before or after the one at a place.

    Args:
        statement: a template, with what the first of `patterns` finds `where`, in the same function.
    """

    at: Place
    side: Literal["before", "after"]
    statement: str
    patterns: tuple[str, ...]
    where: Place


@dataclass(frozen=True)
class BeginWith:
    """The method around a place begins with this statement, moved from further down or new.

    Args:
        statement: what is written where it is new.
        same: patterns of what counts as the statement where it stands.
        base: the full name of the one class that the method's class may be made from where it is new.
    """

    at: Place
    statement: str
    same: tuple[str, ...]
    base: str


@dataclass(frozen=True)
class DropStatement:
    """The statement that is nothing but the call at a place goes, and an `if` that has nothing else in it."""

    at: Place


@dataclass(frozen=True)
class MoveLast:
    """The statement that is nothing but the call at a place becomes the last of the loop that it stands in."""

    at: Place


@dataclass(frozen=True)
class PutUnder:
    """The innermost loop around a place, or else its statement, stands below `with` this context."""

    at: Place
    context: str


Change = (
    Rewrite
    | SetArgument
    | DropArgument
    | SwapArguments
    | DropItem
    | Insert
    | BeginWith
    | DropStatement
    | MoveLast
    | PutUnder
)


@dataclass(frozen=True)
class Proposal:
    """Changes that mend a finding together; the title says in a few words what they do."""

    applicability: Applicability
    title: str
    changes: tuple[Change, ...]


Propose = Callable[[Finding], Iterator[Proposal]]


def safe(title: str, *changes: Change) -> Proposal:
    """Changes after which a program does what it did, except for what was wrong."""
    return Proposal("safe", title, changes)


def unsafe(title: str, *changes: Change) -> Proposal:
    """Changes that are right as a rule, but that somebody has to look at."""
    return Proposal("unsafe", title, changes)
