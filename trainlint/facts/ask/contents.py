"""What containers and other values are made of, taken apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainlint.facts.ask.asking import reached
from trainlint.facts.model.values import Choice, Items, Op, Table, Value


def contents(value: Value) -> Iterator[Value]:
    """A value, or in its place all that the containers hold that it may be, each once."""
    every = reached([value], lambda one: reversed(one.parts()) if _is_container(one) else ())
    return (one for one in every if not _is_container(one))


def _is_container(value: Value) -> bool:
    return isinstance(value, (Items, Table, Choice))


def leaves(value: Value) -> Iterator[Value]:
    """What a value is in the end made of, each once; a list of parameters stays whole."""
    every = reached([value], lambda one: reversed(taken_apart(one)))
    return (one for one in every if not taken_apart(one))


def taken_apart(value: Value) -> Sequence[Value]:
    """What a value is directly made of; a list of parameters stays whole."""
    return () if isinstance(value, Op) and value.name == "parameters" else value.parts()


def put_in_place(value: Value) -> Sequence[Value]:
    """What a program has put in the place of parts of something in a model that is not in sight: `model.classifier[6] = ...`."""
    if not isinstance(value, Op) or value.name != "getattr":
        return ()
    return [one.inputs[2] for one in value.written if one.name == "setitem" and len(one.inputs) == 3]


def handed_over(value: Value) -> Iterator[Value]:
    """What code that is given a value can get at: the value, what it contains, and whose attribute it is."""
    return reached([value], lambda one: reversed(_got_at(one)))


def _got_at(value: Value) -> Sequence[Value]:
    if isinstance(value, Op):
        return value.inputs[:1] if value.name in _FROM else ()
    return value.parts()


_FROM = ("parameters", "getattr", "iterate", "getitem", "filter")
"""Operations whose result is a part of their first input."""
