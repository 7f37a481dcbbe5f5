"""The modules of a model as a tree, from input to output, with what stands out in each and equal blocks together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trainlint.facts.model.recorded import Recorded
from trainlint.facts.seen.modules import ModuleSeen
from trainlint.facts.seen.parameters import ParameterSeen

_ALIKE = 3
"""So many equal blocks, one after the other, become one row."""

_DEAD = 0.9
_LAST = 1 << 60


@dataclass(eq=False)
class Branch:
    """A module with what it holds.

    Args:
        name: the last part of its path; the class of the model for the model itself.
        parameters: those that it holds itself.
        children: in the order in which they were first called; those that never were come last.
    """

    name: str
    path: str
    module: ModuleSeen | None = None
    parameters: list[ParameterSeen] = field(default_factory=list)
    children: list[Branch] = field(default_factory=list)

    @cached_property
    def order(self) -> int:
        """The position of its first call, or of the first call in it."""
        own = _LAST if self.module is None or self.module.order is None else self.module.order
        return min([own, *(one.order for one in self.children)])

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """What stands out in it, in a few words each."""
        return tuple(_flags(self))

    @cached_property
    def flagged(self) -> int:
        """How many modules in it, itself included, stand out."""
        return bool(self.flags) + sum(one.flagged for one in self.children)

    @cached_property
    def kind(self) -> Any:
        """What equal blocks have in common: classes, shapes of parameters, and what stands out."""
        shapes = tuple((one.name.rpartition(".")[2], one.shape) for one in self.parameters)
        type_ = self.module.type if self.module is not None else ""
        return type_, shapes, self.flags, tuple((one.name, one.kind) for one in self.children)

    @cached_property
    def all_parameters(self) -> list[ParameterSeen]:
        return [*self.parameters, *(held for one in self.children for held in one.all_parameters)]

    @cached_property
    def gradient(self) -> float | None:
        """Norm of the gradients of everything in it; None where there is none."""
        norms = [one.gradient.norm for one in self.all_parameters if one.gradient is not None]
        return math.sqrt(sum(norm * norm for norm in norms)) if norms else None

    @cached_property
    def update(self) -> float | None:
        """The largest update of a weight in it, over the norm of the weight."""
        return max(
            (one.update for one in self.all_parameters if one.update is not None and moves(one)),
            default=None,
        )

    @cached_property
    def seconds(self) -> float | None:
        """Of one forward of it and what it holds."""
        own = [self.module.seconds] if self.module is not None and self.module.seconds is not None else []
        held = [one.seconds for one in self.children if one.seconds is not None]
        return sum((*own, *held)) if own or held else None


@dataclass(frozen=True)
class Block:
    """Modules that are equal and stand one after the other: one of them, or three and more."""

    branches: tuple[Branch, ...]

    @property
    def name(self) -> str:
        first, last = self.branches[0].name, self.branches[-1].name
        return first if len(self.branches) == 1 else f"{first} to {last}"


def moves(one: ParameterSeen) -> bool:
    """Whether its update says how fast it learns: a weight that gradients move, and that does not begin at zero."""
    return one.update is not None and one.gradient is not None and len(one.shape) > 1


def trees(run: Recorded) -> list[Branch]:
    """One for each model that was trained."""
    models: dict[int, list[ModuleSeen]] = {}
    for one in run.facts(ModuleSeen):
        models.setdefault(one.number, []).append(one)
    held: dict[tuple[int, str], list[ParameterSeen]] = {}
    for parameter in run.facts(ParameterSeen):
        held.setdefault((parameter.model, parameter.module), []).append(parameter)
    return [_tree(number, modules, held) for number, modules in models.items()]


def blocks(branches: Sequence[Branch]) -> Iterator[Block]:
    """The children of a module with equal ones together. What stands out in one of them keeps it apart."""
    position = 0
    while position < len(branches):
        end = position + 1
        while (
            end < len(branches)
            and branches[end].kind == branches[position].kind
            and branches[end].name.isdigit()
        ):
            end += 1
        if end - position < _ALIKE or not branches[position].name.isdigit():
            end = position + 1
        yield Block(tuple(branches[position:end]))
        position = end


def _tree(
    number: int, modules: Sequence[ModuleSeen], held: dict[tuple[int, str], list[ParameterSeen]]
) -> Branch:
    root = Branch("", "")
    known = {"": root}
    for one in modules:
        branch = _branch(one.path, known)
        branch.module = one
        branch.parameters = held.get((number, one.path), [])
    root.name = root.module.type.rpartition(".")[2] if root.module is not None else "model"
    for branch in known.values():
        branch.children.sort(key=lambda one: one.order)
    return root


def _branch(path: str, known: dict[str, Branch]) -> Branch:
    found = known.get(path)
    if found is None:
        parent = _branch(path.rpartition(".")[0], known)
        found = known[path] = Branch(path.rpartition(".")[2], path)
        parent.children.append(found)
    return found


def _flags(branch: Branch) -> Iterator[str]:
    module, trained = branch.module, [one for one in branch.parameters if one.trainable]
    used = any(one.reached for one in branch.parameters)
    if module is not None and module.order is None and module.parameters and not used:
        yield "never called"
    elif any(one.gradient is None and one.expected for one in trained):
        yield "no gradient"
    gradients = [one.gradient for one in trained if one.gradient is not None]
    if any(one.non_finite for one in gradients):
        yield "gradient not finite"
    elif gradients and any(one.zeros == 1.0 for one in gradients):
        yield "gradient all zero"
    if module is None:
        return
    if module.spread is not None and module.spread.non_finite:
        yield "output not finite"
    if module.dead is not None and module.dead >= _DEAD:
        yield "dead units"
    if module.saturated is not None and module.saturated >= _DEAD:
        yield "saturated"
    if module.training is False and gradients:
        yield "in eval mode"
