"""The sampler that does not shuffle is told of epochs, and the one that does is not: they are mixed up."""

from __future__ import annotations

from collections.abc import Iterator

from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.loaders import samplers
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object

from .told import told_of_epochs

_DISTRIBUTED = "torch.utils.data.DistributedSampler"


def mixed_up(training: Training) -> Iterator[tuple[Object, Object, Called]]:
    """Each loader that code out of sight trains with in a loop of epochs, without being told which, its sampler that
    shuffles, and the call in this loop on one that does not shuffle."""
    calls = [one for one in training.events(Called) if one.name == "set_epoch" and _is_of_no_use(one)]
    if not calls:
        return
    handed = training.events(Escape)
    for built in training.events(Built):
        loader = built.object
        for sampler in samplers(loader):
            call = next((one for one in calls if _only_in_epochs(handed, loader, sampler, one)), None)
            if call is not None and shuffles(sampler) and told_of_epochs(training, loader, sampler):
                yield loader, sampler, call


def shuffles(sampler: Object) -> bool:
    given = sampler.argument(3, "shuffle")
    is_on = given is None or (isinstance(given, Constant) and given.value is True)
    return sampler.type == _DISTRIBUTED and not sampler.is_open and is_on


def _is_of_no_use(call: Called) -> bool:
    """Whether what is told of the epoch certainly is a sampler that does not shuffle."""
    told = call.args[0] if len(call.args) == 2 and call.loops else None
    if not isinstance(told, Object) or told.type != _DISTRIBUTED:
        return False
    given = told.argument(3, "shuffle")
    return isinstance(given, Constant) and given.value is False and not given.is_default


def _only_in_epochs(handed: list[Escape], loader: Object, sampler: Object, call: Called) -> bool:
    """Whether code out of sight gets a loader in the loop of a call alone, and neither its sampler nor the epoch."""
    found = [one for one in handed if _gets(one, loader)]
    return bool(found) and all(
        call.loops[-1] in one.loops and not _gets(one, sampler) and not _knows(one, call) for one in found
    )


def _gets(escape: Escape, wanted: Object) -> bool:
    return any(one is wanted for value in escape.values for one in handed_over(value))


def _knows(escape: Escape, call: Called) -> bool:
    """Whether the code is given the epoch too, or what is made of it."""
    return any(one is call.args[1] for one in reached((*escape.values, *escape.tensors), most=400))
