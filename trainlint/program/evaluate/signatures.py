"""Whether a call fits the parameters of a function."""

from __future__ import annotations

from trainlint.facts.model.values import Items, Value
from trainlint.program.evaluate.values import Arguments, FunctionValue


def raises_at_once(func: FunctionValue, given: Arguments) -> bool:
    """Whether Python refuses a call: more arguments than parameters, or one of a name that there is not."""
    if func.code.decorators:
        return False
    room, unknown = 0, set(given.options)
    for (
        one
    ) in func.code.parameters:  # of every call of the program: no comprehensions, which are calls as well
        if one.star:
            room = room if one.star == "**" else len(given.args)
            unknown = unknown if one.star == "*" else set()
        else:
            room += not one.keyword_only
            unknown.discard(one.name)
    for value in given.args:
        if isinstance(value, Items) and value.kind == "star":
            return False
    return len(given.args) > room or bool(unknown)


def _is_star(value: Value) -> bool:
    return isinstance(value, Items) and value.kind == "star"


def lacks_arguments(func: FunctionValue, given: Arguments) -> bool:
    """Whether Python refuses a call because parameters without a default are given nothing."""
    if func.code.decorators or func.wraps is not None or given.open:
        return False
    if len(given.args) == len(func.code.parameters) or any(map(_is_star, given.args)):
        return False
    left = len(given.args)
    for one in func.code.parameters:
        if one.star:
            left = 0 if one.star == "*" else left
            continue
        is_given = (left > 0 and not one.keyword_only) or one.name in given.options
        left -= left > 0 and not one.keyword_only
        if not is_given and one.default is None:
            return True
    return False
