"""Models that a loop keeps under another name: no copy, but the model that goes on to be trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import MODULE
from trainlint.facts.model.events.modules import ModelKept
from trainlint.facts.model.values import Object, Value
from trainlint.program.source import shape, walking
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def note_assigned(ev: Evaluator, target: s.Expr, written: s.Expr, value: Value) -> None:
    """`best_model = model` in a loop, under a condition, of a name that is read after the loop."""
    if not (isinstance(value, Object) and value.is_a(MODULE) and isinstance(target, s.Name)):
        return
    if not (ev.loops and ev.guards):
        return
    code = ev.frames[-1].code or ev.project.modules[ev.env.path]
    around = _around(code.body, written) or []
    loops = [one for one in around if isinstance(one, (s.For, s.While))]
    if loops and not _leaves(around[-1]) and _is_read_outside(code.body, loops[0], target):
        ev.emit(ModelKept, written.at, name=target.name, module=value)


def _around(block: s.Block, written: s.Expr) -> list[s.Statement] | None:
    """The statements that have the assignment of an expression in one of their blocks, outermost first."""
    for one in block:
        if isinstance(one, s.Assign) and one.value is written:
            return []
        for inner in shape.blocks(one):
            found = _around(inner, written)
            if found is not None:
                return [one, *found]
    return None


def _leaves(statement: s.Statement) -> bool:
    """Whether the block ends the loop, so that what was kept is not trained any further."""
    return any(
        isinstance(one, (s.Return, s.Raise)) or (isinstance(one, s.Jump) and one.kind == "break")
        for block in shape.blocks(statement)
        for one in block
    )


def _is_read_outside(block: s.Block, loop: s.Statement, target: s.Name) -> bool:
    inside = {id(one) for one in walking.walk((loop,))}
    return any(one.name == target.name and id(one) not in inside for one in _reads(block))


def _reads(block: s.Block) -> Iterator[s.Name]:
    """Names in a block that are not assigned there."""
    set_there = {id(each) for one in walking.walk(block) if isinstance(one, s.Assign) for each in one.targets}
    return (one for one in walking.walk(block) if isinstance(one, s.Name) and id(one) not in set_there)
