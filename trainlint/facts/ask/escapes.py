"""What code that is not known may do with what it is handed."""

from __future__ import annotations

from trainlint.facts.ask.attachment import attachment
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.values import Object, Op


def may_run_backward(escape: Escape) -> bool:
    """Whether code that is not known is handed an object, or something that gradients flow back from."""
    for value in (*escape.values, *escape.tensors):
        if isinstance(value, Object):
            return True
        if isinstance(value, Op):
            way = attachment(value)
            if way.attached or way.uncertain:
                return True
    return False
