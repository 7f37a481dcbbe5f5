"""`itertools`: what comes out of lists that are put behind each other, crossed or repeated."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from trainlint.facts.model.values import Constant, Items, Object, Value, constant
from trainlint.program.api.elements import held
from trainlint.program.api.lists import bounded, is_unrolled
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def _lists(ev: Evaluator, values: tuple[Value, ...]) -> list[Items]:
    """Some lists, all of which are known item by item; none of them where one is not."""
    found = [held(ev, one) if isinstance(one, Object) else one for one in values]
    known = [one for one in found if isinstance(one, Items) and one.exact]
    return known if len(known) == len(found) else []


def _iterator(ev: Evaluator, items: list[Value]) -> Items:
    items, exact = bounded(ev, items, exact=True)
    return Items(kind="generator", items=items, exact=exact, branch=ev.depth(), loops=ev.loops)


def chained(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`chain(first, second)`."""
    lists = _lists(ev, given.args) if not given.open else []
    return _iterator(ev, [item for one in lists for item in one.items]) if lists else None


def chained_from(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`chain.from_iterable(lists)`."""
    match given.args:
        case (Items(exact=True, items=[_, *_] as inner),):
            return chained(ev, name, Arguments(tuple(inner)), at, text)
    return None


def crossed(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`product(first, second)`, of lists that are short together."""
    lists = _lists(ev, given.args) if not given.options and not given.open else []
    count = 1
    for one in lists:
        count *= len(one.items)
    if not lists or not is_unrolled(ev, Items(items=[Constant(value=None)] * count)):
        return None
    ev.spend(count)
    rows = itertools.product(*(one.items for one in lists))
    return _iterator(ev, [Items(kind="tuple", items=list(row)) for row in rows])


def repeated(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`cycle(items)` and `repeat(value)`: the same over and over."""
    match name, given.args:
        case "itertools.repeat", (value, *_):
            is_once = constant(given.get(1, "times")) in (0, 1) or not ev.is_plainly_reached()
            twice = () if is_once else ((ev.place(at), value),)
            return Items(kind="generator", items=[value], exact=False, repeated=twice)
        case "itertools.cycle", (Items(items=[_, *_] as items),):
            return Items(kind="generator", items=list(items), exact=False)
    return None


def copied(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`tee(items, 2)`: as many iterators over the same items."""
    count = given.get(1, "n") or Constant(value=2)
    match given.args, count:
        case (Items(exact=True, items=items), *_), Constant(value=int(number)) if 0 < number < 9:
            return Items(kind="tuple", items=[_iterator(ev, list(items)) for _ in range(number)])
    return None


def accumulated(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`accumulate(items, function)`: what a function makes of each item and all that came before."""
    function = given.get(1, "func")
    match given.args[:1]:
        case (Items(exact=True, items=[first, *others]) as over,) if function and is_unrolled(ev, over):
            found = [first]
            for one in others:
                found.append(ev.call(function, Arguments((found[-1], one)), at, text))
            return _iterator(ev, found)
    return None
