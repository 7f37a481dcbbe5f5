from collections.abc import Iterator

from trainlint.facts.api.classes import LOADER
from trainlint.facts.api.torch_names import seeds
from trainlint.facts.ask.loaders import uses, workers
from trainlint.facts.model.events.batches import WorkersStart
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Unknown, Value, alternatives, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule


@rule(Training, level="error", confidence="likely", refutable=False, by="S")
def check(training: Training) -> Iterator[Finding]:
    for built in training.events(Built):
        if built.object.type == LOADER and workers(built.object) != 0:
            yield from _called_at_once(built.object)
    evaluating = {one.loader.uid for one in uses(training) if one.evaluates}
    for start in training.events(WorkersStart):
        if start.loader.uid not in evaluating:
            yield from _seeded_alike(start)


def _called_at_once(loader: Object) -> Iterator[Finding]:
    for one in alternatives(loader.argument(10, "worker_init_fn")):
        if isinstance(one, Op) and seeds(one.name) and one.at is not None and loader.at is not None:
            yield Finding(
                loader.at,
                f"`{one.text}` is called here, once, in the main process, and `worker_init_fn` gets its "
                "result, `None`: it seeds no worker. Remove it, as workers get different seeds anyway, or "
                "pass a function that takes the worker id.",
            )


def _seeded_alike(start: WorkersStart) -> Iterator[Finding]:
    if workers(start.loader) == 0 or start.loader.at is None:
        return
    for call in start.done:
        seed = call.argument(0, "seed")
        if seeds(call.name) and seed is not None and not call.guards[len(start.guards) :] and _is_fixed(seed):
            yield Finding(
                start.loader.at,
                f"`{call.name}` gives every worker process the same seed, in every epoch, so all workers "
                "draw the same random numbers for different samples. Remove `worker_init_fn`, as PyTorch "
                "seeds each worker differently, or add the worker id to the seed.",
                (Because(call.at, "the same seed for each worker"),),
            )
            return


def _is_fixed(seed: Value) -> bool:
    """Whether a seed is the same in each worker: a number, or a setting of the program's."""
    if isinstance(seed, Constant):
        return seed.value is not None
    if isinstance(seed, Op) and seed.name == "getattr":
        return all(isinstance(one, (Unknown, Object)) for one in alternatives(seed.inputs[0]))
    return constant(seed) is not None
