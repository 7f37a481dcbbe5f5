"""Regions of autocast, and the switch that stands outside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api.classes import AUTOCAST
from trainlint.facts.api.second_names import AUTOCASTS
from trainlint.facts.model.values import Constant, Named, Op, Value, one_of
from trainlint.program.evaluate import conditions
from trainlint.program.evaluate.values import Arguments
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


ASKS_AUTOCAST = "torch.is_autocast_enabled"


_AUTOCAST = Named(name="torch.autocast")
"""Holds what the program has switched autocast to, outside of regions of it."""


def region(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """`torch.autocast(...)` by any of its names, with its arguments by theirs; none where it is not enabled."""
    device, names = AUTOCASTS[name]
    options = {**dict(zip(names, given.args, strict=False)), **given.options}
    if device is not None:
        options["device_type"] = Constant(value=device)
    made = ev.object(AUTOCAST, frozenset((AUTOCAST,)), at, Arguments((), options, given.open))
    enabled = options.get("enabled")
    if isinstance(enabled, Op) and enabled.name == ASKS_AUTOCAST:  # as it is around it
        return Constant(value=None)
    if enabled is None or isinstance(enabled, Constant):
        return made
    condition, outcome = conditions.guard(enabled)
    off = Constant(value=None)
    return one_of(((((condition, outcome),), made), (((condition, not outcome),), off)))


def autocast_switched(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """`torch.set_autocast_enabled(...)`, with a device before it or without."""
    enabled = given.options.get("enabled") or (given.args[-1] if given.args else ev.unknown())
    ev.store.set((_AUTOCAST.uid, "enabled"), enabled)
    return Constant(value=None)


def is_autocast_on(ev: Evaluator, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """What it was switched to; off behind a region of the same function's own. Unknown inside regions, and where that is not in
    sight."""
    found = None
    if not ev.here.autocast:
        found = ev.store.get((_AUTOCAST.uid, "enabled"))
        if found is None and ev.frames[-1].casts:
            found = Constant(value=False)
    return found or ev.op(ASKS_AUTOCAST, given.args, at, text)
