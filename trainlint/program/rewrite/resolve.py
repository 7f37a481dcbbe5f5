"""The proposals of rules for the findings in one file, to edits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst

from trainlint.finding import Edit, Fix
from trainlint.fix import (
    BeginWith,
    DropArgument,
    DropItem,
    DropStatement,
    Insert,
    MoveLast,
    Proposal,
    PutUnder,
    Rewrite,
    SetArgument,
    SwapArguments,
)
from trainlint.program.rewrite import changes, statements
from trainlint.program.rewrite.changes import CannotBeMade, Replacement
from trainlint.program.rewrite.imports import imported
from trainlint.program.rewrite.names import Names
from trainlint.program.rewrite.tree import NotAsRead, Tree
from trainlint.program.source.room import deep, uncollected

_MAKE: dict[type, Callable[[Any, Tree, Names], Replacement]] = {
    Rewrite: changes.rewritten,
    SetArgument: changes.argument_set,
    DropArgument: changes.argument_dropped,
    SwapArguments: changes.arguments_swapped,
    DropItem: changes.item_dropped,
    Insert: statements.inserted,
    BeginWith: statements.begun_with,
    DropStatement: statements.dropped,
    MoveLast: statements.moved_last,
    PutUnder: statements.put_under,
}


class Unparsable(Exception):
    """A file that libcst cannot take apart."""


class Resolver:
    """Makes the changes that are proposed for one file. Raises Unparsable."""

    def __init__(self, path: str, text: str) -> None:
        try:
            with deep(), uncollected():
                self._tree = Tree(path, text)
        except (cst.ParserSyntaxError, RecursionError) as error:
            raise Unparsable from error
        self._names = Names(self._tree)

    def fix(self, proposals: Iterable[Proposal]) -> Fix | None:
        """The first proposal that can be made, as edits."""
        with deep():
            for proposal in proposals:
                edits = self._made(proposal)
                if edits:
                    return Fix(proposal.applicability, proposal.title, edits)
        return None

    def _made(self, proposal: Proposal) -> tuple[Edit, ...]:
        edits: list[Edit] = []
        for change in proposal.changes:
            try:
                made = _MAKE[type(change)](change, self._tree, self._names)
                if self._loses_comments(made):
                    return ()
                edit = self._tree.replaced(made.old, made.new)
                edits += [edit] if edit is not None else []
                edits += [imported(module, self._tree) for module in sorted(made.imports)]
            except (CannotBeMade, NotAsRead):
                return ()
        return tuple(sorted(set(edits)))

    def _loses_comments(self, made: Replacement) -> bool:
        old = Counter(_comments(made.old))
        if not old:
            return False
        new = [made.new] if isinstance(made.new, cst.CSTNode) else made.new
        return bool(old - Counter(one for node in new for one in _comments(node)))


def _comments(node: cst.CSTNode) -> Iterator[str]:
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, cst.Comment):
            yield one.value
        pending.extend(one.children)
