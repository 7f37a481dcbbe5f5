from collections.abc import Iterator

from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.loaders import not_used, samplers, uses
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object
from trainlint.finding import Because, Finding, Open
from trainlint.rule import rule

from .other_told import mixed_up, shuffles
from .told import told_of_epochs


@rule(Training, level="warning", absence=True)
def check(training: Training) -> Iterator[Finding | Open]:
    yield from not_used(training)
    for loader, sampler, call in mixed_up(training):
        if loader.at is not None and sampler.at is not None:
            yield Finding(
                loader.at,
                "`set_epoch` is called on a sampler that does not shuffle, and never on the `DistributedSampler` of this "
                "loader, which does: every epoch has the same batches in the same order.",
                (
                    Because(sampler.at, "the sampler is created here"),
                    Because(call.at, "this call is on another sampler"),
                ),
                confidence="likely",
                doubt="what draws from the loader is not in sight",
            )
    for use in uses(training):
        loader = use.loader
        epochs = training.repeating_loop(use.drawn)
        if isinstance(epochs, Open):
            yield epochs
            continue
        if not use.trains or epochs is None or loader.at is None:
            continue
        for sampler in samplers(loader):
            if not shuffles(sampler) or _is_handed_over(training, loader, sampler):
                continue
            told = told_of_epochs(training, loader, sampler)
            if told is None:
                continue
            made = (Because(sampler.at, "the sampler is created here"),) if sampler.at is not None else ()
            yield Finding(
                loader.at,
                "`set_epoch` is never called on the `DistributedSampler` of this loader, so it shuffles with "
                "the same seed each time: every epoch has the same batches in the same order. Call "
                "`sampler.set_epoch(epoch)` at the start of each epoch.",
                (
                    *made,
                    Because(epochs, "each iteration of this loop is an epoch"),
                    *(Because(one.at, "this call is not on the sampler of this loader") for one in told[:1]),
                ),
            )


def _is_handed_over(training: Training, loader: Object, sampler: Object) -> bool:
    """Whether unknown code receives the loader or its sampler, and may call `set_epoch` itself."""
    return any(
        one is loader or one is sampler
        for escape in training.events(Escape)
        for value in escape.values
        for one in handed_over(value)
    )
