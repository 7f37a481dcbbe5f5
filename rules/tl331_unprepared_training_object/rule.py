from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER, OPTIMIZER, SOME_MODULE
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.helpers import (
    Handed,
    batches_of_step,
    counting_helpers,
    handed_to,
    is_one,
    may_be_handed,
    outputs_in,
    precision,
)
from trainlint.facts.ask.holding import contains
from trainlint.facts.ask.loaders import is_built_openly, is_own_class, samplers, type_of, uses
from trainlint.facts.ask.ranks import speaks_of_rank
from trainlint.facts.ask.stepped import held_modules
from trainlint.facts.ask.unseen_models import made_as
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Unknown, Value, alternatives, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

from .pipelines import handed_pipelines


@rule(Training, level="error", by="S")
def check(training: Training) -> Iterator[Finding]:
    helpers = counting_helpers(training)
    given = [(helper, handed_to(training, helper)) for helper in helpers]
    ready = frozenset[int]().union(*(handed.numbers for _, handed in given))
    for helper, handed in given:
        yield from handed_pipelines(training, helper)
        backwards = [one for one in training.events(Backward) if one.by is helper and one.loops]
        if not backwards or not handed.numbers:
            continue
        yield from _optimizers(training, helper, handed.numbers, [one for _, one in given])
        if handed.is_all:
            yield from _models(training, helper, backwards, handed)
        if handed.complete:
            yield from _loaders(training, ready)


def _optimizers(
    training: Training, helper: Object, handed: frozenset[int], by_all: list[Handed]
) -> Iterator[Finding]:
    """Optimizers of models that one helper has prepared, and that none of the program's has: a training function that is
    called again has another one."""
    done = set()
    for step in training.events(OptimizerStep):
        optimizers = list(alternatives(step.optimizer))
        if all(held_modules(one).isdisjoint(handed) for one in optimizers):
            continue
        if any(
            not isinstance(one, Object)
            or not _is_known(one)
            or any(may_be_handed(training, given, one) for given in by_all)
            for one in optimizers
        ):
            continue
        for one in optimizers:
            if isinstance(one, Object) and one.at is not None and one.uid not in done:
                done.add(one.uid)
                waits = not is_one(batches_of_step(helper))
                scales = constant(precision(helper)) == "fp16"
                harm = (
                    "steps on every batch"
                    if waits
                    else "uses gradients that are still scaled"
                    if scales
                    else "knows nothing of accumulation, scaling or sharding"
                )
                yield Finding(
                    one.at,
                    f"The model went through `prepare`, and this optimizer did not: it {harm}. Prepare both, and use "
                    "what `prepare` returns.",
                    (Because(step.at, "it steps here"),),
                    level=None if waits or scales else "warning",
                )


def _is_known(value: Object) -> bool:
    return value.is_a(OPTIMIZER) and "?" not in value.type and not value.is_open


def _models(
    training: Training, helper: Object, backwards: list[Backward], given: Handed
) -> Iterator[Finding]:
    """Models that a prepared optimizer steps, and that were not prepared themselves. What code that is not in sight makes of
    the helper may be prepared."""
    handed = given.numbers
    stepped = frozenset(
        number
        for step in training.events(OptimizerStep)
        for one in alternatives(step.optimizer)
        if one.uid in handed
        for number in held_modules(one)
    )
    done = set()
    for backward in backwards:
        for forward in outputs_in(training, backward):
            model = forward.module
            if (
                not isinstance(model, Object)
                or model.uid in done
                or model.uid not in stepped
                or model.at is None
            ):
                continue
            whole = any(contains(one, (model.uid,)) for one in training.objects if one.uid in handed)
            is_ready = model.uid in handed or whole or contains(model, handed)
            made = made_as(model)
            if is_ready or any(one is helper for one in reached([made])):
                continue
            if given.unknown and (_is_of_caller(model) or may_be_handed(training, given, made)):
                continue
            done.add(model.uid)
            yield Finding(
                model.at,
                "The optimizer of this model went through `prepare`, and the model did not: it is not moved to the "
                "device, not run in the chosen precision, and its gradients are not averaged over processes. Prepare "
                "both.",
                (Because(forward.at, "it is trained here"),),
            )


def _is_of_caller(model: Object) -> bool:
    """Whether whoever calls this has made a model, and may have prepared it."""
    made = made_as(model)
    is_kept = isinstance(made, Op) and made.name == "getattr"
    return is_kept or (isinstance(made, Object) and made.type == SOME_MODULE)


def _loaders(training: Training, ready: frozenset[int]) -> Iterator[Finding]:
    for use in uses(training):
        loader = use.loader
        if not use.trains or loader.uid in ready or loader.at is None or loader.type != LOADER:
            continue
        given = [*loader.args, *loader.options.values()]
        datasets = list(alternatives(loader.argument(0, "dataset")))
        is_of_caller = (
            all(isinstance(one, Unknown) for one in datasets)
            and constant(loader.argument(2, "shuffle")) is True  # so it is no stream
        )
        if (
            not is_built_openly(loader)
            or loader.loops  # its data may be what this process has collected since the last time
            or any(True for _ in samplers(loader))
            or loader.argument(3, "sampler") is not None
            or loader.argument(4, "batch_sampler") is not None
            or not datasets
            or not (all(map(_is_whole, datasets)) or is_of_caller)
            or any(
                isinstance(one, Object) and one.is_a("torch.utils.data.IterableDataset") for one in datasets
            )
            or any(map(speaks_of_rank, reached(given)))
        ):
            continue
        yield Finding(
            loader.at,
            "The model went through `prepare`, and its training data did not: every process reads the same batches, and "
            "a step that is incomplete at the end of an epoch is lost. Prepare this loader too.",
            (Because(use.drawn.at, "the model is trained on its batches here"),),
            confidence="likely" if is_of_caller else None,
            doubt="the dataset is not in sight: it may be the part of one process" if is_of_caller else "",
        )


def _is_whole(dataset: Value) -> bool:
    """Whether a dataset is of a class that knows nothing of processes."""
    return (
        is_own_class(dataset, "torch.utils.data.Dataset")
        or type_of(dataset).startswith(("torch", "torchvision."))
        or _is_of_hub(dataset)
    )


_SHARES = frozenset("shard split_dataset_by_node to_iterable_dataset".split())
"""What gives each process a part of a dataset, or makes a stream of it, which may."""


def _is_of_hub(dataset: Value) -> bool:
    """Whether a dataset is one of `datasets`, whole, however it was prepared."""
    made = [one.name.rpartition(".")[2] for one in reached([dataset]) if isinstance(one, Op)]
    is_whole = not any(isinstance(one, Op) and "streaming" in one.options for one in reached([dataset]))
    return "load_dataset" in made and is_whole and _SHARES.isdisjoint(made)
