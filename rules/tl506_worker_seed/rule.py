from collections.abc import Iterator
from typing import TypeGuard

from trainlint.facts.api.classes import LOADER
from trainlint.facts.api.torch_names import seeds
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.loaders import purpose, uses, workers
from trainlint.facts.model.events.batches import ItemsMade, WorkersStart
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Unknown, Value, alternatives, constant
from trainlint.finding import Because, Finding
from trainlint.rule import rule

_GENERATORS = frozenset(
    ("numpy.random.default_rng", "numpy.random.RandomState", "random.Random", "Generator", "torch.Generator")
)

_ARITHMETIC = frozenset("+ - * // % ** ^ int int_number builtins.int".split())


@rule(
    Training,
    level="error",
    confidence="likely",
    refutable=False,
    by="S",
    words="default_rng RandomState Generator",
)
def check(training: Training) -> Iterator[Finding]:
    for built in training.events(Built):
        if built.object.type == LOADER and workers(built.object) != 0:
            yield from _called_at_once(built.object)
    evaluating = {one.loader.uid for one in uses(training) if one.evaluates}
    for start in training.events(WorkersStart):
        if start.loader.uid not in evaluating:
            yield from _seeded_alike(start)
    yield from _copied(training)


def _copied(training: Training) -> Iterator[Finding]:
    """A generator of random numbers that a dataset holds, and that each worker process gets a copy of."""
    evaluating = {one.loader.uid for one in uses(training) if one.evaluates}
    for made in training.events(ItemsMade):
        loader = made.loader
        is_seen = loader.is_a(LOADER)
        if is_seen and (
            workers(loader) in (0, None)
            or loader.uid in evaluating
            or purpose(loader) == "evaluate"
            or "worker_init_fn" in loader.options
        ):
            continue
        if (not is_seen and not made.in_workers) or "get_worker_info" in made.names:
            continue
        for name, value in made.held.items():
            if name in made.names and isinstance(value, Op) and value.at is not None and _draws(value):
                yield Finding(
                    value.at,
                    f"Each worker process gets a copy of `self.{name}`, again in every epoch: all workers draw the same "
                    "random numbers, and each epoch repeats them. Draw by the functions of `torch`, `random` or "
                    "`numpy.random`, which workers seed apart, or make the generator in the worker.",
                    (Because(loader.at, "this loader has workers"),) if loader.at is not None else (),
                    confidence="likely",
                    doubt="workers may make a generator of their own"
                    if is_seen
                    else "the loader is not in sight",
                )


def _draws(value: Op) -> bool:
    """Whether a value is a generator of random numbers, seeded or not."""
    if value.name in _GENERATORS:
        return True
    return value.text.endswith("manual_seed(…)") and bool(value.inputs) and _is_generator(value.inputs[0])


def _is_generator(value: Value) -> bool:
    return isinstance(value, Op) and value.name in _GENERATORS


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
    """Whether a seed is the same in each worker: a number, a setting of the program's, or computed of these."""
    return all(map(_is_same_everywhere, reached([seed], _operands)))


def _operands(value: Value) -> tuple[Value, ...]:
    return value.inputs if _is_arithmetic(value) else ()


def _is_arithmetic(value: Value) -> TypeGuard[Op]:
    return isinstance(value, Op) and value.name in _ARITHMETIC


def _is_same_everywhere(value: Value) -> bool:
    if isinstance(value, Constant):
        return value.value is not None
    if isinstance(value, Op) and value.name == "getattr":
        return all(isinstance(one, (Unknown, Object)) for one in alternatives(value.inputs[0]))
    return _is_arithmetic(value) or constant(value) is not None
