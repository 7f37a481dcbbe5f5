from collections.abc import Iterator

from trainlint.facts.ask.devices import ways_to_be_on
from trainlint.facts.ask.flow import is_made_of
from trainlint.facts.ask.loaders import is_built_openly
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.modules import Moved
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Value, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="info", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    drawn = training.events(Drawn)
    for move in training.events(Moved):
        if move.waits or isinstance(move.what, Object) or _is_host(move.device):
            continue
        source = next((one for one in drawn if is_made_of(move.what, one.batch)), None)
        if source is not None and source.loader.at is not None and not _is_pinned(source.loader):
            yield Finding(
                move.at,
                "`non_blocking=True` has no effect here: the batch is in pageable memory, from which a copy "
                "to CUDA blocks the host. Create the loader with `pin_memory=True`.",
                (Because(source.loader.at, "the loader does not pin memory"),),
            )


def _is_host(device: Value) -> bool:
    """Whether a device is known to be the CPU, or an Apple GPU, and not a CUDA device."""
    is_other = any(ways_to_be_on(device, kind) for kind in ("cpu", "mps"))
    return is_other and not ways_to_be_on(device, "cuda")


def _is_pinned(loader: Object) -> bool:
    """Whether a loader may pin memory, or its arguments cannot be seen."""
    given = loader.argument(7, "pin_memory")
    return not is_built_openly(loader) or (given is not None and constant(given) is not False)
