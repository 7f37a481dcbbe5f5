"""Models that a library hands out in evaluation mode, and that nothing switches to training mode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainlint.facts.ask.attachment import cuts
from trainlint.facts.ask.contents import leaves
from trainlint.facts.ask.escapes import given_away
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.freezing import may_be_frozen
from trainlint.facts.ask.holding import contains
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import ModeChange
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.recorded import Recorded
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Value
from trainlint.finding import Because, Elsewhere, Finding, Place

_NAMES = "Bert|Roberta|XLMRoberta|Camembert|Electra|Deberta|DebertaV2|MPNet|DistilBert|T5|MT5|Bart|MBart|Longformer|XLNet"
_CLASS = re.compile(
    rf"transformers\.(?:\w+\.)*(?:{_NAMES})(?:Model|EncoderModel|For[A-Z]\w+)\.from_pretrained"
)
_AUTO = re.compile(r"transformers\.(?:\w+\.)*AutoModel(?:For(?!CausalLM)\w+)?\.from_pretrained")
_WEIGHTS = re.compile(
    r"(?:[\w-]+/)?(?:distil)?(?:bert|roberta|electra|deberta|mpnet|camembert|xlm-roberta|mt5|t5|bart|mbart|xlnet)-[\w.-]+",
    re.IGNORECASE,
)
"""Models of transformers whose configurations have dropout by default; that of most others is off."""

_SWITCHES = Elsewhere(
    r"\.train\((?:\s*|True|mode=True)\)", "training mode is switched on here, of what may be this model"
)


def never_switched(
    training: Training, pairs: Sequence[tuple[Forward, Value]], reported: set[Place]
) -> Iterator[Finding]:
    """Training steps on such models, in a program that calls `train()` of nothing."""
    if isinstance(training, Recorded) or any(one.by_framework for one in training.events(Backward)):
        return
    if any(one.training is not False for one in training.events(ModeChange)):
        return
    found = [
        (forward, module, model)
        for forward, module in pairs
        for model in _born_off(forward.module)
        if module is model or contains(module, (model.uid,))
    ]
    given = {one.uid for one in given_away(training)} if found else set()
    for forward, module, model in found:
        around = {one.uid for one in (model, forward.module, module)}
        if (
            forward.at in reported
            or not given.isdisjoint(around)
            or not _is_learning(forward, model)
            or may_be_frozen(training, model)
        ):
            continue
        reported.add(forward.at)
        yield _finding(training, forward, model)


def _finding(training: Training, forward: Forward, model: Object) -> Finding:
    name = model.type.split(".")[-2]
    return Finding(
        forward.at,
        f"`{name}.from_pretrained` gives a model in evaluation mode, and nothing switches it to training mode: its dropout "
        "is off in this training step. Call `train()` before it.",
        (Because(model.at, "it is loaded here"),) if model.at is not None else (),
        unless=None if training.entry == "program" else _SWITCHES,
        is_shown_by_runs=False,
    )


def _born_off(module: Value) -> Iterator[Object]:
    """The models with dropout in a module that are loaded in evaluation mode; itself, where it is one."""
    held = [module]
    if isinstance(module, Object):
        held += [one for value in module.attributes.values() for one in leaves(value)]
    return (one for one in held if isinstance(one, Object) and _is_born_off(one))


def _is_born_off(module: Object) -> bool:
    if module.definition is not None:
        return False
    if _CLASS.fullmatch(module.type) is not None:
        return True
    weights = module.argument(0, "pretrained_model_name_or_path")
    return (
        _AUTO.fullmatch(module.type) is not None
        and isinstance(weights, Constant)
        and _WEIGHTS.fullmatch(str(weights.value)) is not None
    )


def _is_learning(forward: Forward, model: Object) -> bool:
    """Whether gradients reach a model from what a forward gives: it is called itself, or in it where gradients are recorded."""
    if forward.module is model:
        return forward.records is True
    return any(
        isinstance(one, Op) and one.owner is model and one.records is True
        for one in made_of(forward.output, cuts)
    )
