"""Training loaders that a program only makes: nothing in sight draws from them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.loaders import handed_out
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object

from .reading import holds_windows, is_one_batch, reads_in_order, reads_in_order_by_setting

_OTHER_USES = re.compile(
    r"eval|test|val|infer|predict|extract|feature|embed|memory|bank|knn|label|plain|clean|order|noaug|stat|visual"
)
_OF_LIGHTNING = "train_dataloader"
"""The method that Lightning asks for what it trains on."""


def handed_to_trainers(training: Training) -> Iterator[Object]:
    """The loaders that are handed to callers out of sight, by names that only speak of training, and of which nothing says
    that their order is meant: `shuffle` is left out, or stands beside a sampler that a setting may leave out. Lightning trains
    on what `train_dataloader` returns, whatever it is told."""
    given = {one.uid for one in reached(one.value for one in training.handed_out())}
    for loader in handed_out(training, "train") if given else ():
        is_for_training = not any(map(_OTHER_USES.search, (loader.called.lower(), loader.reads.lower())))
        by_setting = reads_in_order_by_setting(loader)
        is_told = (
            loader.argument(2, "shuffle") is not None and not by_setting and loader.called != _OF_LIGHTNING
        )
        if not is_for_training or loader.uid not in given or is_told:
            continue
        if (
            not (reads_in_order(loader) or by_setting)
            or is_one_batch(loader)
            or holds_windows(training, loader)
        ):
            continue
        escaped = (
            each for one in training.events(Escape) for value in one.values for each in handed_over(value)
        )
        if not any(one is loader for one in escaped):
            yield loader
