"""Models that a loop keeps under another name: no copy, but the model that goes on to be trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import MODULE
from trainlint.facts.model.events.modules import ModelKept
from trainlint.facts.model.values import Carried, Items, Object, Value, alternatives, ways
from trainlint.program.source import shape, walking
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def note_assigned(ev: Evaluator, target: s.Expr, written: s.Expr, value: Value) -> None:
    """`best_model = model` or `best = (model, loss)` in a loop, under a condition, of a name that is read after the loop; or
    `self.best_model = model`, of an attribute that is read anywhere."""
    if not (ev.loops and ev.guards):
        return
    if isinstance(target, s.Attribute):
        _note_attribute(ev, target, written, value)
        return
    kept = list(_kept(target, value))
    if not kept:
        return
    code = ev.frames[-1].code or ev.project.modules[ev.env.path]
    around = _around(code.body, written) or []
    loops = [one for one in around if isinstance(one, (s.For, s.While))]
    for name, module, held in kept:
        if loops and not _leaves(around[-1]) and _is_read_outside(code.body, loops[0], name):
            ev.emit(ModelKept, written.at, name=name.name, module=module, value=held)


def _note_attribute(ev: Evaluator, target: s.Attribute, written: s.Expr, value: Value) -> None:
    found = _models(_at_first(value))
    if not found or not ev.is_read(target.name):
        return
    code = ev.frames[-1].code
    around = (_around(code.body, written) if code is not None else None) or []
    if around and not _leaves(around[-1]):
        holder = f"{target.value.name}." if isinstance(target.value, s.Name) else ""
        for module in found:
            ev.emit(ModelKept, written.at, name=f"{holder}{target.name}", module=module, value=value)


def _at_first(value: Value) -> Value:
    """What a variable was before the loops that assign it."""
    while isinstance(value, Carried):
        value = value.start
    return value


def _kept(target: s.Expr, value: Value) -> Iterator[tuple[s.Name, Object, Value]]:
    """The models that an assignment gives names to, alone or in tuples, and all that each may be."""
    if isinstance(target, s.Collection) and isinstance(value, Items):
        for name, one in zip(target.items, value.items, strict=False):
            yield from _kept(name, one)
    elif isinstance(target, s.Name):
        for held in value.items if isinstance(value, Items) else [value]:
            yield from ((target, one, held) for one in _models(_at_first(held)))


def _models(value: Value) -> list[Object]:
    """The model that a value is, or each of those of which settings choose one: not one of several that a loop goes
    through."""
    found = [one for guards, one in ways(value) if guards or value is one]
    models = [one for one in found if isinstance(one, Object) and one.is_a(MODULE)]
    return models if len(models) == len(list(alternatives(value))) else []


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
