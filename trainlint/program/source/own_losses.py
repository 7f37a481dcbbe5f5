"""Models that compute their loss themselves, as they are written: `model(**batch).loss`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trainlint.program.source import syntax as s

_MODEL = re.compile(r"(model|net|network|bert|gpt|lm|llm|encoder|decoder|transformer)\d*$", re.IGNORECASE)
"""What a model is called."""


def giving_loss(begun: Sequence[s.Expr], held: Mapping[str, list[s.Expr]]) -> Iterator[s.Call]:
    """The calls whose result has the loss that backward begins with, as its `loss`, and that are likely of a model.

    Args:
        begun: what backward is run on.
        held: what plain names hold.
    """
    pending, seen = [(one, False) for one in begun], set()
    while pending:
        node, is_loss = pending.pop()
        match node:
            case s.Name(name=name) if (name, is_loss) not in seen:
                seen.add((name, is_loss))
                pending.extend((one, is_loss) for one in held.get(name, ()))
            case (
                s.Attribute(name="loss", value=inner)
                | s.Subscript(value=inner, index=s.Constant(value="loss"))
            ):
                pending.append((inner, True))
            case s.Call(func=s.Attribute(name="mean" | "sum", value=inner)) if not is_loss:
                pending.append((inner, False))
            case s.Call(func=s.Attribute(name="scale"), args=(first, *_)) if not is_loss:
                pending.append((first.value, False))
            case s.Call() if is_loss and _is_of_model(node):
                yield node
            case s.Operation(operator="+" | "-" | "*" | "/", operands=operands) if not is_loss:
                pending.extend((one, False) for one in operands)


def _is_of_model(call: s.Call) -> bool:
    """Whether a call is named after a model, or only given a batch by name; none that is given a model."""
    match call.func:
        case s.Name(name=name) | s.Attribute(name=name, value=s.Name(name="self")):
            given = [one.keyword for one in call.args if not one.star]
            is_by_name = bool(call.args) and all(one.keyword or one.star == "**" for one in call.args)
            is_handed_model = any(keyword is not None and _MODEL.search(keyword) for keyword in given)
            return _MODEL.search(name) is not None or (is_by_name and not is_handed_model)
    return False
