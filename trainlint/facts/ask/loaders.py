"""Data loaders: what each is used for, in which order it reads, and what it reads from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from trainlint.facts.api.classes import LOADER, SAMPLER
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.model.events.batches import Drawn
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import Built, ModeChange
from trainlint.facts.model.events.steps import Backward, OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import (
    Items,
    Object,
    Op,
    Unknown,
    Value,
    alternatives,
    constant,
)
from trainlint.finding import Open

_MOST = 20_000


_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_LOADER = re.compile(r"load|data|batch|dl$|_iter$")
_GO_THROUGH = frozenset(("enumerate", "tqdm", "trange", "islice", "iter", "track"))
_TRAINS = frozenset("train training trn tr fit".split())
_EVALUATES = frozenset(
    "holdout heldout val va valid validation validate test testing eval evaluation evaluate dev".split()
)

Purpose = Literal["train", "evaluate"]


@dataclass(frozen=True)
class Use:
    """A loader that hands out batches.

    Args:
        drawn: the first time that the source, or the run, shows it doing so; where it trains, the first time for that.
        trains: an optimizer steps on a loss that is made of its batches.
        evaluates: no loss of a backward is made of its batches, and a model is given them without gradients.
        measures: and something is done with what the model gives.
    """

    loader: Object
    drawn: Drawn
    trains: bool
    evaluates: bool
    measures: bool


@question(start=(), unknown=())
def uses(training: Training) -> tuple[Use, ...]:
    """Every loader that hands out batches, by what is done with these, whatever it is called."""
    return tuple(_uses(training))


def purpose(loader: Object) -> Purpose | None:
    """What a loader is for, by its name or that of its dataset: `val_loader`, `loaders["test"]`, `def train_dataloader()`,
    `DataLoader(val_set)`; None where neither says anything, or one says both."""
    for name in (loader.called, loader.reads):
        if says_purpose(name):
            return purpose_of(name)
    return None


def says_purpose(name: str) -> bool:
    """Whether a name has a word of what data is for."""
    return not _words(name).isdisjoint(_TRAINS | _EVALUATES)


def purpose_of(name: str) -> Purpose | None:
    """What a loader or dataset of this name is for; None where the name says nothing, or both."""
    words = _words(name)
    trains, evaluates = not words.isdisjoint(_TRAINS), not words.isdisjoint(_EVALUATES)
    return None if trains is evaluates else "train" if trains else "evaluate"


def _words(name: str) -> set[str]:
    return {one.lower() for one in _WORD.findall(name)}


def handed_out(training: Training, what: Purpose) -> Iterator[Object]:
    """The loaders that by their names are for a purpose, and from which nothing in sight draws."""
    drawn = {one.loader.uid for one in training.events(Drawn)}
    for built in training.events(Built):
        loader = built.object
        if loader.is_a(LOADER) and loader.uid not in drawn and purpose(loader) == what:
            yield loader


def not_used(training: Training) -> Iterator[Open]:
    """Loaders that train nothing, as far as a recording goes: what a rule says of training by them is open."""
    taught = {use.loader.uid for use in uses(training) if use.trains}
    for built in training.events(Built):
        if built.object.is_a(LOADER) and built.object.uid not in taught:
            yield Open(built.at, "whether anything is trained on its batches")


def _uses(training: Training) -> Iterator[Use]:
    draws: dict[int, list[Drawn]] = {}
    for drawn in training.events(Drawn):
        draws.setdefault(drawn.loader.uid, []).append(drawn)
    if not draws:
        return
    steps = {one.loops for one in training.events(OptimizerStep)}
    steps |= {one.loops for one in training.events(Backward) if one.by_framework and one.by is None}
    learned = [(one, _made_of(one.loss)) for one in training.events(Backward)]
    watched = [
        (frozenset().union(*(_made_of(given) for given in one.given)), not _is_ignored(one))
        for one in training.events(Forward)
        if _evaluates(training, one)
    ]
    for several in draws.values():
        batches = [{one.uid for one in (drawn.batch, *drawn.batch.parts())} for drawn in several]
        backwards = [
            (drawn, backward)
            for drawn, batch in zip(several, batches, strict=True)
            for backward, inside in learned
            if not batch.isdisjoint(inside)
        ]
        trained_on = [
            drawn
            for drawn, backward in backwards
            if any(map(set(drawn.loops).issubset, steps))
            or (any(map(set(backward.loops).issubset, steps)) and _comes_on(training, drawn, backward))
        ]
        # one whose own batch a loss is made of, before one that only is of the same loader
        of_loss = frozenset().union(*(inside for _, inside in learned)) if len(trained_on) > 1 else ()
        own = (one for one in trained_on if one.batch.uid in of_loss)
        first = next(own, next(iter(trained_on), None))
        measured = [
            is_used
            for batch in batches
            for inside, is_used in watched
            if not backwards and not batch.isdisjoint(inside)
        ]
        yield Use(several[0].loader, first or several[0], first is not None, bool(measured), any(measured))


def _comes_on(training: Training, drawn: Drawn, backward: Backward) -> bool:
    """Whether a batch comes to a backward through a loop over a generator, or a list without a name: one batch after
    the other, in the order in which they were drawn."""
    for number in backward.loops:
        loop = training.loops.get(number)
        over = loop.over if loop is not None else None
        if loop is None or not isinstance(over, Items) or over.exact or number in drawn.loops:
            continue
        is_nameless = over.kind == "generator" or (over.at is not None and over.at.line == loop.at.line)
        if is_nameless and drawn.batch.uid in _made_of(over):
            return True
    return False


def _is_ignored(forward: Forward) -> bool:
    """Whether nothing is measured: the model collects statistics, as in a calibration, or warms up."""
    return isinstance(forward.output, Op) and forward.output.is_ignored


def in_evaluation(training: Training, forward: Forward) -> bool:
    """Whether every switch of a module's mode before its forward is to evaluation, on all ways there."""
    if all(one.training is True for one in training.events(ModeChange)):
        return False
    modes = [training.mode_at(run, forward) for run in training.runs(ModeChange, Forward) if forward in run]
    return bool(modes) and all(one is not None and one.training is False for one in modes)


def learned_from(training: Training) -> list[Value]:
    """Every value that goes into a loss of a backward, through loaders and datasets too."""
    return _all_in([one.loss for one in training.events(Backward)])


def watched_from(training: Training) -> list[Value]:
    """Every value that goes into a model in evaluation, through loaders and datasets too."""
    return _all_in(
        [given for one in training.events(Forward) if _evaluates(training, one) for given in one.given]
    )


def _evaluates(training: Training, forward: Forward) -> bool:
    return forward.records is False or in_evaluation(training, forward)


def _made_of(value: Value) -> frozenset[int]:
    """Numbers of all values that go into one."""
    return frozenset(one.uid for one in _all_in([value]))


def _all_in(values: list[Value]) -> list[Value]:
    """These values and all that they are made of."""
    return list(reached(values, _read_from, _MOST))


def _read_from(value: Value) -> Iterable[Value]:
    if isinstance(value, Object) and value.is_a(LOADER):
        return (*value.args, *value.options.values())
    return value.parts()


def is_built_openly(loader: Object) -> bool:
    """Whether all arguments of a loader can be seen."""
    return loader.type == LOADER and not loader.is_open and (bool(loader.args) or "dataset" in loader.options)


def samplers(loader: Object) -> Iterator[Object]:
    """The samplers that a loader may draw by."""
    for position, name in ((3, "sampler"), (4, "batch_sampler")):
        for one in alternatives(loader.argument(position, name)):
            if isinstance(one, Object) and one.is_a(SAMPLER):
                yield one


def workers(loader: Object) -> int | None:
    """How many worker processes a loader certainly has; None where that is open."""
    given = loader.argument(5, "num_workers")
    if given is None:
        return 0 if is_built_openly(loader) else None
    number = constant(given)
    return number if isinstance(number, int) else None


def type_of(value: Value) -> str:
    """The dotted name of a library's class or function that made a value; empty for all else."""
    if isinstance(value, Op):
        return value.name
    if isinstance(value, Object):
        return value.type if value.definition is None else ""
    return ""


def is_own_class(value: Value, base: str) -> bool:
    """Whether a value is an instance of a class of the program's own, over a library's."""
    return isinstance(value, Object) and value.definition is not None and value.is_a(base)


def comes_from_loader(drawn: Op) -> bool:
    """Whether what a loop goes through is a loader, by what made it or by what it is called."""
    match drawn_from(drawn):
        case Object() as over:
            return over.is_a(LOADER)
        case Unknown(text=name) | Op(name="getattr", text=name):
            return _LOADER.search(name.lower()) is not None
    return False


def drawn_from(drawn: Op) -> Value:
    """What a loop goes through, without what counts or shows its rounds."""
    over: Value = drawn.inputs[0] if drawn.inputs else drawn
    while isinstance(over, Op) and over.name.rpartition(".")[2] in _GO_THROUGH and over.inputs:
        over = over.inputs[0]
    return over
