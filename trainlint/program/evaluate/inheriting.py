"""Methods of a base class, as its subclasses of the same file have them: only these may set what they use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.values import ClassValue, FunctionValue

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_TRAINS = frozenset(("backward", "manual_backward", "training_step"))


def inherited(ev: Evaluator, own: list[ClassValue]) -> Iterator[tuple[FunctionValue, ClassValue]]:
    """The methods that classes of a file inherit from its other classes, each with a class that has it, where either
    these train or what they call is a method of the class that trains."""
    methods = {cls.uid: list(_methods(ev, cls)) for cls in own}
    training = {uid for uid, held in methods.items() if any(_TRAINS & one.origin.code.names for one in held)}
    counts: dict[int, int] = {}
    for cls in own if training else ():
        bases = [one.uid for one in classes.ancestry(cls) if one is not cls and one.uid in methods]
        steps = {one.origin.code.name for one in methods[cls.uid] if _TRAINS & one.origin.code.names}
        for number, one in ((base, one) for base in bases for one in methods[base]):
            if number not in training and steps.isdisjoint(one.origin.code.names):
                continue
            held = classes.class_attribute(ev, cls, one.origin.code.name)
            if not isinstance(held, FunctionValue) or held.origin is not one.origin:
                continue
            counts[one.uid] = counts.get(one.uid, 0) + 1
            if counts[one.uid] <= limits.SUBCLASSES:
                yield one, cls


def _methods(ev: Evaluator, cls: ClassValue) -> Iterator[FunctionValue]:
    for one in ev.store.owned(cls.env.uid).values():
        is_method = isinstance(one, FunctionValue) and one.owner is cls and one.kind == "function"
        if is_method and isinstance(one, FunctionValue) and not one.origin.code.name.startswith("__"):
            yield one
