"""Programs that hold nothing out: a `val_loader` reads the one dataset that there is, and that is trained on."""

from __future__ import annotations

import re
from collections.abc import Iterable

from trainlint.facts.api.operations import FRESH
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.sequences import batches
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value

_VALIDATES = re.compile(r"(?:^|_)(?:val|valid|validation)(?:_|$)")
_MADE_UP = re.compile(
    r"(?:^|[._])(?:random|make|synthetic|fake|dummy|mock|toy|simulated)|FakeData", re.IGNORECASE
)


def validates_on_all(training: Training, loader: Object) -> bool:
    """Whether a loader is named for validation, and the data are no numbers that the program
    draws: of these, none have to be held out."""
    if loader.at is None or training.is_in_test(loader.at):
        return False
    data, batch = loader.argument(0, "dataset"), batches(training).get(loader.uid)
    held = [one for one in (data, batch) if one is not None]
    return _VALIDATES.search(loader.called.lower()) is not None and not any(
        map(_is_made_up, reached(held, _with_arguments))
    )


def _is_made_up(value: Value) -> bool:
    if isinstance(value, Object):
        return _MADE_UP.search(value.type) is not None
    return isinstance(value, Op) and (value.name in FRESH or _MADE_UP.search(value.name) is not None)


def _with_arguments(value: Value) -> Iterable[Value]:
    if isinstance(value, Object):
        return (*value.args, *value.options.values(), *value.attributes.values())
    return value.parts()
