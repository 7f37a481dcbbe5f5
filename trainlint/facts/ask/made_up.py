"""Tensors that a program makes of nothing but the numbers that stand in it, or of random ones."""

from __future__ import annotations

from trainlint.facts.api.gradients import REBUILDS
from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.api.operations import CREATES
from trainlint.facts.ask.asking import question
from trainlint.facts.model.values import Constant, Items, Op, Value

_PLACED = KEEPS | {"to", "cuda", "cpu", "float", "double", "half", "type"}
"""Operations of which only the first input is a tensor."""
_HIDE = frozenset(("call", "getattr", "iterate", "framework", "parameters", "load"))


@question(start=True, unknown=False)
def is_made_up(value: Value) -> bool:
    """Whether a tensor certainly comes from no data, and from no parameters."""
    match value:
        case Constant():
            return True
        case Items():
            return all(map(is_made_up, value.items))
        case Op() if value.name in CREATES or ".random." in value.name:
            return True
        case Op() if value.owner is not None or value.name in _HIDE:
            return False
        case Op() if value.name in _PLACED:
            return is_made_up(value.inputs[0]) if value.inputs else False
        case Op() if value.inputs and (value.name in REBUILDS or not _is_foreign(value.name)):
            return all(map(is_made_up, value.inputs))
        case Op():
            return value.name in REBUILDS
    return False


def _is_foreign(name: str) -> bool:
    return "." in name and not name.startswith(
        ("math.", "builtins.", "torch.nn.functional.", "torch.special.")
    )
