"""What a `def` binds: the function, or what its decorators make of it.

A decorator of the program's own that gives back a function of its own is followed: calls go through that function, and
what it does around the decorated one, such as `with torch.no_grad()`, holds for it. What it gives back that cannot be
seen is taken for the function itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import AUTOCAST
from trainlint.facts.model.values import Object, Value, alternatives
from trainlint.program.api import grad_modes, noting
from trainlint.program.evaluate import classes, names
from trainlint.program.evaluate.values import Arguments, Bound, ClassValue, FunctionValue, Library
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def define_function(ev: Evaluator, code: s.Function) -> Value:
    """The value that a `def` or `lambda` binds."""
    defaults = {one.name: ev.expr(one.default) for one in code.parameters if one.default is not None}
    ev.env.keep()
    value = FunctionValue(code=code, env=ev.env, defaults=defaults)
    for node in reversed(code.decorators):
        if isinstance(node, s.Attribute) and node.name in ("setter", "deleter", "getter"):
            return _with_accessor(names.lookup(ev, code.name), node.name, value)
        value = _decorated(ev, value, ev.expr(node), node)
    return value


def _with_accessor(before: Value, name: str, accessor: FunctionValue) -> Value:
    """The property that a class has defined so far, which now can be set too."""
    if name == "setter" and isinstance(before, FunctionValue) and before.kind == "property":
        before.setter = accessor
    return before


def _decorated(ev: Evaluator, function: FunctionValue, decorator: Value, node: s.Expr) -> FunctionValue:
    match decorator:
        case Library(name="builtins.property" | "functools.cached_property"):
            function.kind = "property"
        case Library(name="builtins.staticmethod"):
            function.kind = "static"
        case Library(name="builtins.classmethod"):
            function.kind = "class"
        case Library(name="contextlib.contextmanager" | "contextlib.asynccontextmanager"):
            function.origin.is_context = True
        case FunctionValue() if decorator.code.parameters:
            with ev.at_most("DECORATOR_STEPS"):
                return _wrapped(function, ev.call_function(decorator, Arguments((function,)), node.at))
        case Bound(function=FunctionValue()):
            return _wrapped(function, ev.call(decorator, Arguments((function,)), node.at, ev.label(node)))
        case Object(definition=ClassValue() as cls) if classes.has_method(ev, cls, "__call__"):
            return _wrapped(function, ev.call(decorator, Arguments((function,)), node.at, ev.label(node)))
        case _:
            if isinstance(decorator, Library):
                noting.note_use(ev, decorator.name, node.at, decorator.name, Arguments())
            return under(decorator, function)
    return function


def under(context: Value, function: FunctionValue) -> FunctionValue:
    """`torch.no_grad()(function)`, and the same with `torch.autocast(...)`; the function itself for any other object."""
    change = grad_modes.records_inside(context)
    if change != "same":
        return function.recording(change)  # type: ignore[arg-type]
    if isinstance(context, Object) and context.is_a(AUTOCAST):
        return replace(function, autocast=(*function.autocast, context))
    return function


def _wrapped(function: FunctionValue, made: Value) -> FunctionValue:
    """What a decorator has made of a function, if that was made for it; the function itself where that is not seen."""
    found = list(alternatives(made))
    for one in found:
        if isinstance(one, FunctionValue) and one.uid > function.uid and one.wraps is None:
            one.wraps = function
    if len(found) == 1 and isinstance(found[0], FunctionValue):
        return found[0]
    if any(isinstance(one, FunctionValue) and one.records is not function.records for one in found):
        function.records = None
    return function
