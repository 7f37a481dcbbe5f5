"""Whether autograd records: `no_grad`, `inference_mode` and what else sets it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainlint.facts.api import torch_names
from trainlint.facts.model.values import Constant, Object, Op, Value
from trainlint.program.evaluate.values import Arguments, FunctionValue, Library
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


GRAD_MODES = {"torch.no_grad": False, "torch.inference_mode": False, "torch.enable_grad": True}


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


def _opposite(mode: Value) -> bool | None:
    return not mode.value if isinstance(mode, Constant) and isinstance(mode.value, bool) else None


def switched(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    if given.args and isinstance(given.args[0], FunctionValue):  # `torch.no_grad(f)`
        return given.args[0].recording(GRAD_MODES.get(name))
    made = ev.object(name, frozenset((name,)), at, given)
    if name == "torch.set_grad_enabled":
        ev.set_recording(records_inside(made))  # type: ignore[arg-type]
    return made
