"""Methods of a base class, as its subclasses have them: only these may set what they use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.values import ClassValue, FunctionValue

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_TRAINS = frozenset(("backward", "manual_backward", "training_step"))

_NAMED = re.compile(r"(^|_)(loss|losses|criterion|train|training|fit|step|update|epoch|optimize|learn)(_|$)")
"""What methods are called that train, or compute a loss."""

Inherited = tuple[FunctionValue, ClassValue]
"""A method, and a class that inherits it."""


def inherited(ev: Evaluator, own: list[ClassValue]) -> Iterator[Inherited]:
    """The methods that classes of a file inherit."""
    yield from _from_here(ev, own)
    yield from _from_other_files(ev, own)


def _from_other_files(ev: Evaluator, own: list[ClassValue]) -> Iterator[Inherited]:
    """Methods of classes of other files, by their names alone: what stands in their bodies may change without a change
    of this file."""
    here = {cls.uid for cls in own}
    for cls in own:
        for base in classes.ancestry(cls):
            if base.uid not in here:
                yield from (
                    (one, cls)
                    for one in _methods(ev, base)
                    if _NAMED.search(one.origin.code.name) and _is_held(ev, cls, one)
                )


def _from_here(ev: Evaluator, own: list[ClassValue]) -> Iterator[Inherited]:
    """Methods of other classes of this file, where either these train or what they call is a method of the class that
    trains."""
    methods = {cls.uid: list(_methods(ev, cls)) for cls in own}
    training = {uid for uid, held in methods.items() if any(_TRAINS & one.origin.code.names for one in held)}
    counts: dict[int, int] = {}
    for cls in own if training else ():
        bases = [one.uid for one in classes.ancestry(cls) if one is not cls and one.uid in methods]
        steps = {one.origin.code.name for one in methods[cls.uid] if _TRAINS & one.origin.code.names}
        for number, one in ((base, one) for base in bases for one in methods[base]):
            if number not in training and steps.isdisjoint(one.origin.code.names):
                continue
            if not _is_held(ev, cls, one):
                continue
            counts[one.uid] = counts.get(one.uid, 0) + 1
            if counts[one.uid] <= limits.SUBCLASSES:
                yield one, cls


def _is_held(ev: Evaluator, cls: ClassValue, method: FunctionValue) -> bool:
    """Whether a class has a method of its base as it is."""
    held = classes.class_attribute(ev, cls, method.origin.code.name)
    return isinstance(held, FunctionValue) and held.origin is method.origin


def _methods(ev: Evaluator, cls: ClassValue) -> Iterator[FunctionValue]:
    for one in ev.store.owned(cls.env.uid).values():
        is_method = isinstance(one, FunctionValue) and one.owner is cls and one.kind == "function"
        if is_method and isinstance(one, FunctionValue) and not one.origin.code.name.startswith("__"):
            yield one
