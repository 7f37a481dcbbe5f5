"""Branches of a forward that are taken once: what they do ends what their condition asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.order import events
from trainlint.program.evaluate import conditions
from trainlint.program.evaluate.blocks import Signal, decided
from trainlint.program.source import syntax as s
from trainlint.program.source.shape import are_alike
from trainlint.program.source.walking import walk

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def taken(ev: Evaluator, node: s.If) -> Signal:
    """The body of a branch. What `if not self.is_built: self.build(x)` makes is made once, if `build` sets the flag."""
    begun = len(ev.nodes)
    signal = decided(ev, node.body)
    flag, wanted = _flag(node.test)
    if flag is None or ev.forwarding() is None or signal == "raise":
        return signal
    made = [one for one in events(ev.nodes[begun:]) if isinstance(one, Built) and one.within is not None]
    if made and not _is_set_back(ev, flag, wanted) and conditions.truth(ev.expr(flag), {}) is (not wanted):
        for one in made:
            one.is_once = True
    return signal


def _flag(test: s.Expr) -> tuple[s.Attribute | None, bool]:
    """The attribute that a condition asks for, and what it has to be."""
    match test:
        case s.Attribute():
            return test, True
        case s.Operation(operator="not", operands=(s.Attribute() as flag,)):
            return flag, False
    return None, False


def _is_set_back(ev: Evaluator, flag: s.Attribute, wanted: bool) -> bool:
    """Whether the functions that run here also set the flag to what it has to be: then the branch is taken again."""
    running = [one.code for one in ev.frames if one.code is not None and one.code.name != "__init__"]
    return any(
        isinstance(node, s.Assign)
        and isinstance(node.value, s.Constant)
        and bool(node.value.value) is wanted
        and any(are_alike(one, flag) for one in node.targets)
        for code in running
        for node in walk(code.body)
    )
