"""Losses of which a setting from outside chooses one, such as an entry of a YAML file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainlint.facts.api.losses import TAKES
from trainlint.facts.model import order
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.exclusive import compared
from trainlint.facts.model.nodes import Node
from trainlint.facts.model.values import Guards

_FEW = 2
"""A loss that is one of so many may be wrong by itself: the other one is then right for what it is given."""


def note(options: Sequence[tuple[Guards, list[Node]]]) -> None:
    """Mark the losses that a call computes, one under each of these guards, where they want different inputs and the
    program does not say which of them it is."""
    if len(options) <= _FEW or not all(_is_from_outside(guards) for guards, _ in options):
        return
    computed = [
        [one for one in order.events(list(nodes)) if isinstance(one, LossCall)] for _, nodes in options
    ]
    wanted = {TAKES.get(found[0].function) if found else None for found in computed}
    if len(wanted) > 1:
        for found in computed:
            for one in found:
                one.is_of_menu = True


def _is_from_outside(guards: Guards) -> bool:
    """Whether conditions that choose something ask for what the program reads from somewhere else, and not for a setting
    that it has a value for."""
    asked = [one for condition, _ in guards if (one := compared(condition)) is not None]
    return 0 < len(asked) == len(guards) and all(_is_read(one.subject) for one in asked)


def _is_read(subject: Any) -> bool:
    """Whether what is compared is the result of a call, or something in it."""
    return isinstance(subject, tuple) and subject[:1] in (("result",), ("getitem",), ("getattr",))
