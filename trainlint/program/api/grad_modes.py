"""Whether autograd records: `no_grad`, `inference_mode` and what else sets it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainlint.facts.api import torch_names
from trainlint.facts.api.classes import PARAMETER
from trainlint.facts.api.meanings import KEEPS
from trainlint.facts.ask.asking import question
from trainlint.facts.ask.holding import wants_gradient
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.values import Constant, Object, Op, Value
from trainlint.program.evaluate.values import Arguments, FunctionValue, Library
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


GRAD_MODES = {"torch.no_grad": False, "torch.inference_mode": False, "torch.enable_grad": True}

SWITCHES = frozenset(name.rpartition(".")[2] for name in (*GRAD_MODES, "torch.set_grad_enabled"))
"""What stands in code that switches gradients off, or on."""


OF_GRAPH = frozenset(("requires_grad", "grad_fn"))
"""Attributes that say whether a tensor has a graph."""

_HAND_OUT = frozenset(("iterate", "grad", PARAMETER))


_NAMES_GRADIENTS = re.compile(r"grad|infer|eval")


def records_inside(context: Value) -> bool | str | None:
    """Whether autograd records inside `with context` or under `@context`; "same" if that changes nothing."""
    match context:
        case Library(name=name) if torch_names.canonical(name) in GRAD_MODES:
            return GRAD_MODES[torch_names.canonical(name)]
        case Object(type=name) if name in GRAD_MODES:
            mode = context.argument(0, "mode")
            if name == "torch.inference_mode" and mode is not None:
                return _opposite(mode)
            return GRAD_MODES[name]
        case Object(type="torch.set_grad_enabled"):
            mode = context.argument(0, "mode")
            known = mode.value if isinstance(mode, Constant) and not mode.is_default else None
            return known if isinstance(known, bool) else None
        case Library(name=name) | Op(name=name) if _NAMES_GRADIENTS.search(name.rpartition(".")[2].lower()):
            return None  # code that is not in sight, and may do what its name says
    return "same"


def is_recording(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """`torch.is_grad_enabled()`: certainly not where it is switched off; elsewhere an unseen caller may have done so."""
    return Constant(value=False) if ev.records is False else ev.op(name, (), at, text)


def attribute(value: Value, name: str) -> Constant | None:
    """`x.requires_grad` and `x.grad_fn` of what was computed while autograd was switched off."""
    if name not in OF_GRAPH or not _is_unrecorded(value):
        return None
    return Constant(value=False if name == "requires_grad" else None)


@question(start=False, unknown=False)
def _is_unrecorded(value: Value) -> bool:
    """Whether a tensor certainly is the result of an operation that was not recorded, and no parameter."""
    match value:
        case Op(name=name, records=False) if not value.is_leaf and not wants_gradient(value):
            if name in KEEPS:  # which may give a parameter back, as it is
                return any(map(_is_unrecorded, value.inputs[:1]))
            is_result = is_tensor(value) or any(map(_is_unrecorded, value.inputs))
            return is_result and name not in _HAND_OUT
    return False


def _opposite(mode: Value) -> bool | None:
    return not mode.value if isinstance(mode, Constant) and isinstance(mode.value, bool) else None


def switched(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    if given.args and isinstance(given.args[0], FunctionValue):  # `torch.no_grad(f)`
        return given.args[0].recording(GRAD_MODES.get(name))
    made = ev.object(name, frozenset((name,)), at, given)
    if name == "torch.set_grad_enabled":
        ev.set_recording(records_inside(made))  # type: ignore[arg-type]
    return made
