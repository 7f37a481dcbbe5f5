"""What the names of loaders and factories say of a forward, where neither is in sight."""

from __future__ import annotations

import re

from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.loaders import drawn_from, purpose_of
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.values import Object, Op, Unknown

_MAKES = re.compile(r"(get|build|create|make|init|construct|define)_")
"""What functions are called that make something new."""


def is_held_out_by_name(forward: Forward) -> bool:
    """Whether a forward is given batches of what is called a loader for evaluation, as `val_loader`, and gives something back."""
    if isinstance(forward.output, Op) and forward.output.is_ignored:
        return False
    return any(
        isinstance(one, Op) and one.name == "iterate" and purpose_of(_called(one)) == "evaluate"
        for given in forward.inputs
        for one in made_of(given)
    )


def _called(drawn: Op) -> str:
    over = drawn_from(drawn)
    return over.text.rpartition(".")[2] if isinstance(over, (Op, Unknown)) else ""


def is_of_factory(module: Object) -> bool:
    """Whether a function that is called after what it makes, as `build_model`, has made a module: it is new, and new modules are
    in training mode."""
    made = made_as(module)
    return (
        isinstance(made, Op) and made.owner is None and _MAKES.match(made.name.rpartition(".")[2]) is not None
    )
