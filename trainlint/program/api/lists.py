"""Lists and dicts that are put together, without an end to how often: no list holds more than it has values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.facts.model.values import Constant, Items, Op, Value
from trainlint.finding import Place

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

Repeated = tuple[tuple[Place, Value], ...]


def joined(ev: Evaluator, first: Items, second: Items) -> Items:
    """`first + second`."""
    items, exact = bounded(ev, [*first.items, *second.items], exact=first.exact and second.exact)
    return Items(kind=first.kind, items=items, exact=exact, repeated=repeated(first, second))


def repeated(first: Items, second: Items) -> Repeated:
    """What multiplications have put into one of two lists several times."""
    if not (first.repeated and second.repeated):
        return first.repeated or second.repeated
    return tuple(dict.fromkeys((*first.repeated, *second.repeated)))


def beginning(value: Value) -> list[Value]:
    """The constants that a list begins with, whatever follows: of `["<pad>", "<unk>"] + words`, or of pairs with their
    numbers."""
    is_numbered = isinstance(value, Op) and value.name == "enumerate" and len(value.inputs) == 1
    first = value.inputs[0] if isinstance(value, Op) and is_numbered and not value.options else value
    while isinstance(first, Op) and first.name == "+" and len(first.inputs) == 2:
        first = first.inputs[0]
    known = isinstance(first, Items) and first.exact and len(first.items) <= limits.MAX_UNROLLED
    found = first.items if isinstance(first, Items) and known else []
    if not all(isinstance(one, Constant) for one in found):
        return []
    if not is_numbered:
        return list(found)
    return [Items(kind="tuple", items=[Constant(value=n), one]) for n, one in enumerate(found)]


def bounded(ev: Evaluator, items: list[Value], *, exact: bool) -> tuple[list[Value], bool]:
    """The items of a list, and whether that is exactly what it holds. A long one holds each of its values once, the last
    of them at its end."""
    ev.copied(len(items))
    if len(items) <= limits.MAX_ITEMS:
        return items, exact
    return once(reversed(items))[::-1], False


def once(values: Iterable[Value]) -> list[Value]:
    """Each of some values once."""
    return list(dict.fromkeys(values))


def is_counter(value: Value) -> bool:
    """Whether a value gives numbers without end."""
    return isinstance(value, Op) and value.name in ("itertools.count", "count")


def numbered(over: Value | None) -> Value | None:
    """What a loop goes through, without the numbers that stand beside each item."""
    while isinstance(over, Op):
        match [one for one in over.inputs if not is_counter(one)]:
            case [one] if over.name == "zip":
                over = one
            case [one, *_] if over.name == "enumerate":
                over = one
            case _:
                break
    return over


def is_unrolled(ev: Evaluator, iterable: Items) -> bool:
    """Whether a loop over this is followed item by item."""
    count = len(iterable.items)
    is_short = iterable.exact and count <= limits.MAX_UNROLLED
    return is_short and ev.here.unrolled * count <= limits.MAX_UNROLLED_TOGETHER


@contextmanager
def unrolled(ev: Evaluator, iterable: Items) -> Iterator[None]:
    """What happens inside is gone through for each item."""
    with ev.inside(unrolled=ev.here.unrolled * max(1, len(iterable.items))):
        yield
