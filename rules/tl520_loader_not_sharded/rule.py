from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.loaders import is_built_openly, is_own_class, type_of, uses
from trainlint.facts.ask.ranks import speaks_of_rank
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.frameworks import Prepared
from trainlint.facts.model.events.modules import Built, Wrapped
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Value, alternatives, compatible, constant
from trainlint.facts.seen.ranks import SameBatches
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .limited import ends_early

_DATASET = "torch.utils.data.Dataset"
_STREAM = "torch.utils.data.IterableDataset"

_JOINS = "torch.distributed.init_process_group"

_SAME = "Every rank draws the same batches from this loader, so more ranks compute the same gradients again."
_WHOLE = (
    "Every rank goes through all of the data, in an order of its own, so an epoch costs as much as on one rank and "
    "takes each sample once for each rank."
)


@rule(Training, level="error", confidence="likely", refutable=False)
def check(training: Training) -> Iterator[Finding]:
    if isinstance(training, Recorded):
        yield from _drawn_alike(training)
    else:
        yield from _not_sharded(training)


def _drawn_alike(run: Recorded) -> Iterator[Finding]:
    """What a run of several ranks has shown."""
    for same in run.facts(SameBatches):
        if same.at is not None:
            yield Finding(
                same.at,
                "Every rank trains on the same batches, so more ranks compute the same gradients again. Give each rank "
                "its own samples: `sampler=DistributedSampler(dataset)`, or another seed for data that is made.",
                evidence={"batches that are the same on all ranks": f"{same.batches} of {same.batches}"},
            )


def _not_sharded(training: Training) -> Iterator[Finding]:
    wrapped = [one for one in training.events(Wrapped) if one.name.endswith(".DistributedDataParallel")]
    if not wrapped or training.events(Prepared) or _has_no_ranks(training) or _seeds_by_rank(training):
        return
    copied = {made_as(one).uid: event for event in wrapped for one in alternatives(event.module)}
    called = (made_as(one.module).uid for one in training.events(Forward))
    trained = next((copied[one] for one in called if one in copied), None)
    if trained is None:
        return
    for use in uses(training):
        loader = use.loader
        if not use.trains or loader.type != LOADER or loader.at is None or not is_built_openly(loader):
            continue
        if loader.argument(3, "sampler") is not None or loader.argument(4, "batch_sampler") is not None:
            continue
        made = [one for one in training.events(Built) if one.object is loader]
        if not all(compatible(one.guards, trained.guards) for one in (*made, use.drawn)):
            continue  # another loader stands where the model is copied
        if any(_is_for_one_process(one, training) for one in made):
            continue
        datasets = list(alternatives(loader.argument(0, "dataset")))
        if not datasets or not all(map(_is_whole, datasets)):
            continue
        are_same = _is_in_order(loader) or any("seed" in one.name for one in training.events(Called))
        if not are_same and ends_early(training, use.drawn):
            continue
        yield Finding(
            loader.at,
            f"{_SAME if are_same else _WHOLE} Pass `sampler=DistributedSampler(dataset)`, and call its "
            "`set_epoch(epoch)`.",
            (
                Because(trained.at, "the model is copied to all ranks here"),
                Because(use.drawn.at, "it is trained on the loader's batches here"),
            ),
            level="error" if are_same else "warning",
        )


def _has_no_ranks(training: Training) -> bool:
    """Whether a whole program is in sight, and joins no process group: copying the model raises."""
    return training.entry == "program" and not any(one.name == _JOINS for one in training.events(Called))


def _is_in_order(loader: Object) -> bool:
    """Whether every rank goes through the data in stored order."""
    shuffle = loader.argument(2, "shuffle")
    return shuffle is None or constant(shuffle) is False


def _is_for_one_process(made: Built, training: Training) -> bool:
    """Whether a condition chooses between this loader and one that has a sampler."""
    others = (one for one in training.events(Built) if one.object.type == LOADER)
    return any(
        not compatible(other.guards, made.guards)
        and (other.object.argument(3, "sampler") or other.object.argument(4, "batch_sampler")) is not None
        for other in others
    )


def _seeds_by_rank(training: Training) -> bool:
    """Whether ranks may have other random numbers: then they shuffle in other orders."""
    seeds = [one for one in training.events(Called) if "seed" in one.name]
    given = [value for one in seeds for value in (*one.args, *one.options.values())]
    return any(
        not isinstance(value, Constant) and any(map(speaks_of_rank, reached([value]))) for value in given
    )


def _is_whole(dataset: Value) -> bool:
    """Whether a dataset certainly is the same on every rank."""
    if isinstance(dataset, Object) and dataset.is_a(_STREAM):
        return False
    known = type_of(dataset)
    if not (
        known.startswith(("torchvision.datasets.", "torch.utils.data.")) or is_own_class(dataset, _DATASET)
    ):
        return False
    held = [dataset]
    if isinstance(dataset, Object):
        held += [*dataset.args, *dataset.options.values(), *dataset.attributes.values()]
    return constant(dataset) is None and not any(map(speaks_of_rank, reached(held)))
