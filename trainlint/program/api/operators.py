"""`operator`: functions that do what an operator does, or take an attribute or an item of what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trainlint.facts.model.values import Constant, Items, Value
from trainlint.program.api import subscripts
from trainlint.program.evaluate.values import Arguments, Library, Partial
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_MAKERS = ("operator.itemgetter", "operator.attrgetter", "operator.methodcaller")


def made(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`itemgetter("logits")`: a function of what it is given later."""
    if not given.args:
        return None
    return Partial(
        function=Library(name=f"{name}()"), args=(Items(items=list(given.args)),), options=given.options
    )


def _each(given: Arguments, take: Callable[[Value, Value], Value | None]) -> Value | None:
    """What is taken of a value by a key, or by each of several."""
    match given.args:
        case (Items(items=[key]), value):
            return take(value, key)
        case (Items(items=several), value):
            found = [take(value, key) for key in several]
            return Items(kind="tuple", items=[one for one in found if one is not None])
    return None


def item_got(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return _each(given, lambda value, key: subscripts.item(ev, value, key, at))


def attribute_got(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    def take(value: Value, key: Value) -> Value:
        if not (isinstance(key, Constant) and isinstance(key.value, str)):
            return ev.unknown("attribute")
        for part in key.value.split("."):
            value = ev.attribute(value, part, at, part)
        return value

    return _each(given, take)


def method_called(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    match given.args:
        case (Items(items=[Constant(value=str(method)), *others]), value):
            called = ev.attribute(value, method, at, method)
            return ev.call(called, Arguments(tuple(others), given.options), at, f"{method}(…)")
    return None


_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "iadd": "+",
    "or_": "|",
}
"""Functions of two values, by the operator that they stand for."""


def computed(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`operator.add(a, b)`."""
    if len(given.args) != 2:
        return None
    return ev.arithmetic(_BINARY[name.removeprefix("operator.")], given.args, at, text)


def item_taken(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`operator.getitem(values, index)`."""
    return subscripts.item(ev, given.args[0], given.args[1], at) if len(given.args) == 2 else None


OPERATORS = {
    **dict.fromkeys(_MAKERS, made),
    "operator.itemgetter()": item_got,
    "operator.attrgetter()": attribute_got,
    "operator.methodcaller()": method_called,
    "operator.getitem": item_taken,
    **dict.fromkeys((f"operator.{name}" for name in _BINARY), computed),
}
"""What each of them does; a result of None is that of any other call."""
