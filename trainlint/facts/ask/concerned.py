"""What events are about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from trainlint.facts.model.events.event import Event
from trainlint.facts.model.values import Object, Value, alternatives


def concerned(event: Event) -> Iterator[Object]:
    """The objects to which something happens."""
    for field in fields(event):
        value = getattr(event, field.name)
        if isinstance(value, Value):
            yield from (one for one in alternatives(value) if isinstance(one, Object))
