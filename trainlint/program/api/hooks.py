"""Forward hooks: functions that a module calls with its output, each time that it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.values import Constant, Items, Object, Op, Value
from trainlint.program.evaluate import keys
from trainlint.program.evaluate.values import Arguments, Bound, FunctionValue, Partial
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def registered(
    ev: Evaluator, module: Object, name: str, given: Arguments, at: s.Span, text: str
) -> Value | None:
    """`module.register_forward_hook(function)`, where nothing leaves open whether that is done."""
    function = given.get(0, "hook")
    if not isinstance(function, (FunctionValue, Bound, Partial)) or given.options or ev.guards:
        return None
    ev.has_hooks = True
    handle = ev.op("call", (function,), at, text, owner=module)
    ev.store.set((module.uid, keys.HOOKS), Items(items=[*_handles(ev, module), handle]))
    return handle


def removed(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`handle.remove()`."""
    handles = _handles(ev, value.owner) if isinstance(value, Op) and value.owner is not None else []
    if not isinstance(value, Op) or value.owner is None or value not in handles:
        return None
    left = [one for one in handles if one is not value]
    ev.store.set((value.owner.uid, keys.HOOKS), Items(items=left))
    return Constant(value=None)


def _handles(ev: Evaluator, module: Object) -> list[Value]:
    held = ev.store.get((module.uid, keys.HOOKS))
    return list(held.items) if isinstance(held, Items) else []


def run(ev: Evaluator, module: Object, given: Arguments, result: Value, at: s.Span) -> Value:
    """What comes of a module's output: a hook may look at it, keep it, or give another one."""
    for handle in _handles(ev, module):
        if isinstance(handle, Op):
            inputs = Items(kind="tuple", items=list(given.args))
            made = ev.call(handle.inputs[0], Arguments((module, inputs, result)), at, "hook(…)")
            result = result if isinstance(made, Constant) and made.value is None else made
    return result
