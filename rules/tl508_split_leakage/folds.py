"""One model that is trained through all folds of a cross-validation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import handed_over
from trainlint.facts.ask.freezing import may_be_frozen
from trainlint.facts.ask.holding import has_parameters, is_part_of, module_of
from trainlint.facts.ask.loaders import learned_from, watched_from
from trainlint.facts.ask.stepped import numbers_held
from trainlint.facts.ask.trained_by import trained
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModuleChanged, StateLoaded
from trainlint.facts.model.events.parameters import ParametersRead
from trainlint.facts.model.events.steps import Backward, OptimizerStep
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
        in_training = {one.module.uid for one in forwards if one.mode is not False and one.records is True}
        for forward in forwards:
            model = forward.module
            is_measured = forward.mode is False or forward.records is False
            if not is_measured or not isinstance(model, Object) or model.uid not in in_training:
                continue
            before = model if loop not in model.loops else _part_from_before(training, loop, model)
            if before is not None and not _begins_anew(training, loop, before):
                yield forward, before
                break


def _part_from_before(training: Training, loop: int, model: Object) -> Object | None:
    """A part of a model that was made before a loop, and that is trained in it: the encoder to which each fold gives a new
    head."""
    held = frozenset().union(
        *(numbers_held(training, one.optimizer) for one in training.inside(loop, OptimizerStep))
    )
    taught = frozenset().union(*(trained(one.loss) for one in training.inside(loop, Backward)))
    for part in reached([model], _own_parts):
        if not isinstance(part, Object) or not part.is_a(MODULE) or loop in part.loops:
            continue
        is_trained = part.uid in held & taught and not may_be_frozen(training, part)
        if is_trained and has_parameters(part) is not False:
            return part
    return None


def _own_parts(value: Value) -> Iterable[Value]:
    """What a module and its containers hold, and nothing of copies: what these hold is copied too."""
    if isinstance(value, Object):
        return () if value.copy_of is not None else value.attributes.values()
    return () if isinstance(value, Op) else value.parts()


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
    given += [one for each in training.inside(loop, Escape) for one in _handed(each, model)]
    return any(_concerns(one, model) for value in given for one in alternatives(value))


def _handed(escape: Escape, model: Object) -> Iterator[Value]:
    """What unknown code is given that may be a model: of one that is made in sight, it is known what holds it."""
    for value in escape.values:
        for one in alternatives(value):
            if model.stands_for is not None:
                yield one
            yield from (held for held in handed_over(one) if isinstance(held, Object))


def _concerns(value: Value, model: Object) -> bool:
    module = module_of(value) or value
    return not isinstance(module, Object) or is_part_of(model, module) or is_part_of(module, model)
