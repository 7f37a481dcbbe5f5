"""Modules that are switched to training mode under another name, or in part."""

from __future__ import annotations

from trainlint.facts.ask.holding import contains, is_part_of
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.values import Object, alternatives


def may_switch_back(event: Event, module: Object) -> bool:
    """Whether training mode is switched on for a part of a module, which chooses what trains, for what holds it, or for
    what is not known: it may be the module itself, or a part."""
    if not isinstance(event, ModeChange) or event.training is False or event.module is module:
        return False
    return any(
        not isinstance(one, Object) or is_part_of(one, module) or contains(one, (module.uid,))
        for one in alternatives(event.module)
    )
