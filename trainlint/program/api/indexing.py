"""Whether the item that a dataset hands out depends on the index that it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.values import ClassValue, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def looks_at_index(
    ev: Evaluator, cls: ClassValue, method: FunctionValue, position: int = 1, depth: int = 0
) -> bool:
    """Whether a method uses an argument for anything but to hand it to methods of its class that do not.

    Args:
        position: of the argument, counted with `self`.
    """
    ev.spend()
    if position >= len(method.code.parameters) or depth > limits.INDEX_DEPTH:
        return True
    parameters = method.code.parameters
    for found in _uses(method.code.body, parameters[position].name, parameters[0].name):
        if found is None:
            return True
        name, place = found
        helper = classes.class_attribute(ev, cls, name)
        if not isinstance(helper, FunctionValue) or helper.kind != "function":
            return True
        if looks_at_index(ev, cls, helper.origin, place + 1, depth + 1):
            return True
    return False


def _uses(block: s.Block, name: str, owner: str) -> Iterator[tuple[str, int] | None]:
    """Each use of a name: the method of `owner` that is handed it and at which position, or None for all else."""
    pending: list[object] = [block]
    while pending:
        match pending.pop():
            case s.If(body=body, orelse=orelse) as choice:
                either = list(_uses(body, name, owner)), list(_uses(orelse, name, owner))
                if all(either):  # else there is a way past it
                    yield from (*either[0], *either[1])
                if not _asks_for_remainder(choice.test):
                    pending.append(choice.test)
            case (
                s.Assign(targets=(s.Name(),), value=s.Collection(items=items))
                | s.Return(value=s.Collection(items=items))
            ):
                pending.extend(one for one in items if not isinstance(one, s.Name))  # handed out as it is
            case tuple() as several:
                pending.extend(several)
            case s.Name(name=found):
                if found == name:
                    yield None
            case s.Call(func=s.Attribute(value=s.Name(name=found), name=method), args=args) if found == owner:
                for place, argument in enumerate(args):
                    is_plain = argument.keyword is None and not argument.star
                    if is_plain and isinstance(argument.value, s.Name) and argument.value.name == name:
                        yield method, place
                    else:
                        pending.append(argument)
            case node if is_dataclass(node):
                pending.extend(getattr(node, one.name) for one in fields(node))


def _asks_for_remainder(test: s.Expr) -> bool:
    """Whether a condition is about `index % 2` alone: it says what kind of item to make, and not which."""
    match test:
        case s.Operation(operator="%", operands=(s.Name(), s.Constant())):
            return True
        case s.Operation(operator="==" | "!=" | "<" | ">", operands=(asked, s.Constant())):
            return _asks_for_remainder(asked)
        case s.Operation(operator="not", operands=(asked,)):
            return _asks_for_remainder(asked)
    return False
