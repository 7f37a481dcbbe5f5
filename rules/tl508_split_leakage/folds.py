"""One model that is trained through all folds of a cross-validation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainlint.facts.ask.holding import is_part_of, module_of
from trainlint.facts.ask.loaders import learned_from, watched_from
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModuleChanged, StateLoaded
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import OptimizerStep
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Object, Op, Value, alternatives

_FOLDS = re.compile(
    r"sklearn\.model_selection\.(?:Repeated)?(?:Stratified)?(?:Group)?(?:KFold|LeaveOneOut|LeaveOneGroupOut)$"
)
"""Each sample is held out once. `TimeSeriesSplit` goes on in time, and a model may go on with it."""

_BEGINS_ANEW = re.compile(r"reset|init|restore|reload|load_|rebuild", re.IGNORECASE)


def through_all_folds(training: Training) -> Iterator[tuple[Forward, Object]]:
    """Evaluations in a loop over folds of a model that was made before it, is trained in it, and never begins anew: each with
    the model. From the second fold on, it has been trained on what is held out."""
    loops = _folds(watched_from(training)) & _folds(learned_from(training))
    for loop in sorted(loops):
        if not training.inside(loop, OptimizerStep):
            continue
        forwards = training.inside(loop, Forward)
        trained = {one.module.uid for one in forwards if one.mode is not False and one.records is True}
        for forward in forwards:
            model = forward.module
            is_measured = forward.mode is False or forward.records is False
            if not is_measured or not isinstance(model, Object) or loop in model.loops:
                continue
            if model.uid in trained and not _begins_anew(training, loop, model):
                yield forward, model
                break


def _folds(values: list[Value]) -> set[int]:
    """The loops over folds that values come of."""
    return {
        one.loops[-1]
        for one in values
        if isinstance(one, Op) and one.name == "iterate" and one.loops and any(map(_is_split, one.inputs[:1]))
    }


def _is_split(value: Value) -> bool:
    made = value.inputs[0] if isinstance(value, Op) and value.name == "split" and value.inputs else None
    kinds = list(alternatives(made)) if made is not None else []
    return bool(kinds) and all(isinstance(one, Op) and _FOLDS.match(one.name) for one in kinds)


def _begins_anew(training: Training, loop: int, model: Object) -> bool:
    """Whether the model may get other weights in each fold."""
    if any(_BEGINS_ANEW.search(one.name) for one in training.inside(loop, Called)):
        return True
    given: list[Value] = [one.module for one in training.inside(loop, ModuleChanged)]
    given += [one.target for one in training.inside(loop, StateLoaded)]
    given += [one.target for one in training.inside(loop, ParametersRead)]
    given += [value for one in training.inside(loop, Escape) for value in one.values]
    return any(_concerns(one, model) for value in given for one in alternatives(value))


def _concerns(value: Value, model: Object) -> bool:
    module = module_of(value) or value
    return not isinstance(module, Object) or is_part_of(model, module) or is_part_of(module, model)
