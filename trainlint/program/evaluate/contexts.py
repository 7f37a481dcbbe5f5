"""What a context makes of what is done inside: whether autograd records, and which regions of autocast it is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api.classes import AUTOCAST
from trainlint.facts.model.values import Items, Object, Value, alternatives
from trainlint.program.api import elements, grad_modes
from trainlint.program.evaluate import around, keys
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

STACK = "contextlib.ExitStack"


def autocast_in(ev: Evaluator, context: Value) -> tuple[Value, ...]:
    """The regions of autocast that `with context` begins, or may begin."""
    if context.uid in ev.contexts:
        return ev.contexts[context.uid].autocast
    is_region = any(isinstance(one, Object) and one.is_a(AUTOCAST) for one in alternatives(context))
    return (context,) if is_region else ()


def records_in(ev: Evaluator, context: Value, outer: bool | None) -> bool | None:
    """Whether autograd records inside `with context`."""
    found: set[bool | None] = set()
    for one in alternatives(context):
        if one.uid in ev.contexts:
            found.add(ev.contexts[one.uid].records)
        else:
            change = grad_modes.records_inside(one)
            found.add(outer if change == "same" else change)  # type: ignore[arg-type]
    return found.pop() if len(found) == 1 else None


def opened(ev: Evaluator, context: Value) -> None:
    """The block of `with context` begins, which may be a stack that holds others until its end."""
    if isinstance(context, Object) and context.type == STACK:
        ev.store.set((context.uid, keys.ENTERED), Items())


def enter_in(ev: Evaluator, stack: Object, name: str, context: Value, at: s.Span) -> Value | None:
    """`stack.enter_context(context)`, inside of `with stack`: it is left at the end of that. None elsewhere."""
    entered = ev.store.get((stack.uid, keys.ENTERED))
    if name != "enter_context" or not isinstance(entered, Items):
        return None
    ev.here = ev.here._replace(
        records=records_in(ev, context, ev.records),
        autocast=ev.here.autocast + autocast_in(ev, context),
    )
    ev.store.set((stack.uid, keys.ENTERED), Items(items=[*entered.items, context]))
    bound = around.enter(ev, context, at)
    return elements.element(ev, bound, at) if isinstance(bound, Items) else bound


def closed(ev: Evaluator, context: Value, at: s.Span) -> None:
    """The block of `with context` ends."""
    if isinstance(context, Object) and context.type == STACK:
        entered = ev.store.get((context.uid, keys.ENTERED))
        for one in reversed(entered.items) if isinstance(entered, Items) else ():
            around.leave(ev, one, at)
    else:
        around.leave(ev, context, at)
