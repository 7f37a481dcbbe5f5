"""What a star hands over: `f(*values)`, `[first, *others]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.facts.model.values import Choice, Items, Object, Value, one_of, ways
from trainlint.program.api import elements
from trainlint.program.api.lists import once
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def spread(ev: Evaluator, value: Value, at: s.Span, taken: int) -> tuple[list[Value], bool]:
    """The arguments that a star makes of a value after `taken` others, and whether there may be more than these."""
    value = as_one_list(value)
    if isinstance(value, Object):
        value = elements.held(ev, value) or elements.items_of(ev, value, at) or value
    if not isinstance(value, Items):
        return [Items(items=[elements.element(ev, value, at)], exact=False, kind="star")], True
    ev.copied(len(value.items))
    if not (value.exact or value.is_begun) or taken + len(value.items) > limits.MAX_ITEMS:
        rest = Items(
            items=once(value.items) if value.exact else list(value.items),
            exact=False,
            kind="star",
            open_end=value.open_end,
            repeated=value.repeated,
        )
        return [rest], True
    if value.is_begun:
        return [*value.items, Items(exact=False, kind="star")], True
    return list(value.items), False


def as_one_list(value: Value) -> Value:
    """One of several lists as one whose items are one of several each: what one of several models gives. Where some of them are
    longer, it only begins so."""
    if not isinstance(value, Choice):
        return value
    lists = [(guards, one) for guards, one in ways(value)]
    known = [(guards, one) for guards, one in lists if isinstance(one, Items) and one.exact]
    if len(known) < len(lists):
        return value
    lengths = {len(one.items) for _, one in known}
    items = [one_of((guards, one.items[place]) for guards, one in known) for place in range(min(lengths))]
    is_same = len(lengths) == 1
    return Items(kind=known[0][1].kind, items=items, exact=is_same, is_begun=not is_same)
