"""Accounts as bytes and back. What is read from a cache is not trusted: plain data comes out, or an error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from trainlint.finding import Finding
from trainlint.program.evaluate.uses import Code
from trainlint.program.incremental.outcome import Defined, DefinedClass, DefinedFunction, Method, Outcome
from trainlint.program.incremental.results import Account, Ledger, State
from trainlint.program.source.outline import Outline, Outlined
from trainlint.reached import Reached

DAMAGED = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
"""What `unpacked` raises where the bytes are no account."""


def packed(account: Account) -> bytes:
    state, ledger = account.state, account.ledger
    paths = sorted(state.contents)
    number = {path: place for place, path in enumerate(paths)}
    known = _names(account.outlines)

    def places(files: Iterable[str]) -> list[int]:
        return [number[one] for one in files]

    files = [
        [
            state.contents[path],
            state.names[path],
            _outline(account.outlines[path]),
            _defined(ledger.defined[path], number, known),
        ]
        for path in paths
    ]
    outcomes = [
        [
            [kind, number[path], place],
            [asdict(found) for found in one.findings],
            places(one.uses),
            places(one.lists),
            _codes(one.reached, number),
            _codes(one.code - one.reached, number),
            [*one.asked],
            [*one.tables],
            [*one.fills],
            [[reached.entry, reached.limit, reached.lost] for reached in one.limited],
        ]
        for (kind, path, place), one in ledger.outcomes.items()
    ]
    return json.dumps([paths, state.frameworks, files, outcomes]).encode(errors="surrogatepass")


def _codes(codes: Iterable[Code], number: Mapping[str, int]) -> list[list[int]]:
    return [[number[file], at] for file, at in codes]


def _outline(one: Outline) -> list[object]:
    functions = [[each.name, each.at, [*each.names], [*each.own]] for each in one.functions]
    callables = [[name, [*names]] for name, names in one.callables]
    return [functions, callables, [*one.called], [*one.binds], one.stars, [*one.reads], one.has_tensor]


_Names = dict[Code, frozenset[str]]
"""Every name in each function that an outline tells of: it need not be written twice."""


def _names(outlines: Mapping[str, Outline]) -> _Names:
    return {(path, each.at): each.names for path, one in outlines.items() for each in one.functions}


def _defined(one: Defined, number: dict[str, int], known: _Names) -> list[object]:
    def names(code: Code, own: frozenset[str]) -> list[str] | None:
        return None if code in known else [*own]

    def method(init: Method | None) -> list[object] | None:
        if init is None:
            return None
        return [number[init.code[0]], init.code[1], names(init.code, init.names)]

    return [
        [[cls.name, method(cls.init), cls.needs_instance] for cls in one.classes],
        [
            [each.name, number[each.code[0]], each.code[1], names(each.code, each.names), each.owner]
            for each in one.functions
        ],
    ]


def unpacked(data: bytes) -> Account:
    """Raises one of `DAMAGED`."""
    paths, frameworks, files, outcomes = json.loads(data)
    paths = [str(path) for path in paths]

    def at(places: Sequence[int]) -> frozenset[str]:
        return frozenset(paths[place] for place in places)

    def codes(found: Sequence[Sequence[int]]) -> frozenset[Code]:
        return frozenset((paths[file], int(offset)) for file, offset in found)

    ledger = Ledger()
    contents, names, outlines = {}, {}, {}
    for path, (content, binds, outline, _) in zip(paths, files, strict=True):
        contents[path], names[path] = str(content), str(binds)
        outlines[path] = _outline_from(outline)
    known = _names(outlines)
    for path, (_, _, _, defined) in zip(paths, files, strict=True):
        ledger.defined[path] = _defined_from(defined, paths, known)
    for (kind, path, place), found, uses, lists, reached, more, asked, tables, fills, limited in outcomes:
        calls = codes(reached)
        ledger.outcomes[str(kind), paths[path], int(place)] = Outcome(
            tuple(Finding.restored(one) for one in found),
            at(uses),
            at(lists),
            calls,
            calls | codes(more),
            frozenset(map(str, asked)),
            frozenset(map(str, tables)),
            frozenset(map(str, fills)),
            tuple(Reached(paths[path], *map(str, one)) for one in limited),
        )
    reads = frozenset[str]().union(*(one.reads for one in outlines.values()))
    return Account(ledger, State(contents, names, tuple(map(str, frameworks)), reads), outlines)


def _outline_from(data: Any) -> Outline:
    functions, callables, called, binds, stars, reads, has_tensor = data
    return Outline(
        tuple(
            Outlined(str(name), int(at), frozenset(names), frozenset(own))
            for name, at, names, own in functions
        ),
        tuple((str(name), frozenset(names)) for name, names in callables),
        frozenset(called),
        frozenset(binds),
        tuple((int(level), str(name)) for level, name in stars),
        frozenset(reads),
        bool(has_tensor),
    )


def _defined_from(data: Any, paths: list[str], known: _Names) -> Defined:
    def names(code: Code, own: Any) -> frozenset[str]:
        return known[code] if own is None else frozenset(own)

    def method(one: Any) -> Method | None:
        if one is None:
            return None
        code = paths[one[0]], int(one[1])
        return Method(code, names(code, one[2]))

    def function(name: Any, file: Any, offset: Any, own: Any, owner: Any) -> DefinedFunction:
        code = paths[file], int(offset)
        return DefinedFunction(str(name), code, names(code, own), None if owner is None else int(owner))

    classes, functions = data
    return Defined(
        tuple(DefinedClass(str(name), method(init), bool(needs)) for name, init, needs in classes),
        tuple(function(*one) for one in functions),
    )
