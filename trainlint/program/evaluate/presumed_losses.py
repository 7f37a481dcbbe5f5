"""Loss functions of which nobody in sight makes use: what is called a loss gets predictions, and somebody runs backward on it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainlint.facts.api.classes import MODULE, SOME_MODULE
from trainlint.facts.api.losses import is_named_loss
from trainlint.facts.api.torch_names import library_bases
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.model.events.steps import Backward
from trainlint.facts.model.values import Choice, Constant, Items, Object, Op, Table, Value, one_of
from trainlint.program.evaluate.values import Arguments, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_PREDICTION = re.compile(
    r"^(y_?)?(pred|output|logit|hat|prob|score|recon|estimat|predict)\w*$|^(y_|x_)(hat|pred|recon)$|^(inputs?|outs?|x|yhat)$"
)
_TARGET = re.compile(
    r"^(y_?)?(true|target|label|gt|truth|ground_?truth|tgt|trg|annotation)\w*$|^y$|^mask_gt$"
)
_NO_OUTPUT = re.compile(
    r"(^|_)(model|net|batch|data|images?|args?|cfg|config|params?|weights?|opt|optimizer|policy|critic|real|true|target\w*|labels?|gt|t|y)$"
)
"""What a first parameter is called that is something else."""

_COMPUTES = re.compile(r"(^|_)(loss|losses|criterion)(_|$)")
"""What functions are called that compute a loss."""

_LOOKS = re.compile(r"(^|_)(val|valid|validation|eval|evaluation|test|log|report|plot)(_|$)")
"""What those are called that compute it to look at."""

_TRAINS = frozenset(("eval", "train", "backward", "step", "zero_grad", "no_grad"))
"""What a function that only computes a loss does not use."""

_NUMBERS = frozenset(("item", "float", "builtins.float", "tolist"))


def is_loss(function: FunctionValue, receiver: Value | None) -> bool:
    """Whether a function of the program is called a loss, and takes predictions."""
    code = function.origin.code
    owner = None
    if function.owner is not None:
        if not (isinstance(receiver, Object) and receiver.is_a(MODULE)):
            return False
        owner = receiver.type.rpartition(".")[2]
    return (
        is_named_loss(code.name, owner) and not (code.names & _TRAINS) and _prediction(function) is not None
    )


def called(ev: Evaluator, function: FunctionValue, receiver: Value | None) -> None:
    """Call a loss function with a model's output and the targets of a batch, and run backward on the loss that it returns."""
    at = function.origin.code.at
    model = ev.object(SOME_MODULE, library_bases(SOME_MODULE), at, Arguments(open=True))
    result = ev.call_function(function, _given(ev, function, receiver, model), at, receiver)
    loss = _loss_in(result)
    if loss is not None:
        ev.emit(Backward, at, loss=loss, accumulates=False, by_framework=True, by=model)


def returned(ev: Evaluator, function: FunctionValue, result: Value) -> None:
    """Run backward on a loss that a function or method computes by calling a model, unless all of it is cut off from the model: then
    it may be there to be looked at."""
    code = function.origin.code
    if not _COMPUTES.search(code.name) or _LOOKS.search(code.name) or code.names & _TRAINS:
        return
    loss = _loss_in(result)
    way = attachment(loss) if loss is not None else None
    if loss is not None and way is not None and way.attached:
        ev.emit(Backward, code.at, loss=loss, accumulates=False, by_framework=True)


def _loss_in(result: Value) -> Value | None:
    """The loss in what a loss function returns: that itself, or what comes before numbers to log, `loss, {"bce": bce.item()}`;
    None for plain numbers."""
    match result:
        case Op():
            return result if result.name not in _NUMBERS else None
        case Items(kind="tuple", items=[Op() as first, *others]) if result.exact and all(
            map(_is_logged, others)
        ):
            return _loss_in(first)
        case Table(entries={"loss": Op() as total}):
            return _loss_in(total)
        case Choice():
            found = [(guards, _loss_in(one)) for guards, one in result.options]
            options = [(guards, one) for guards, one in found if one is not None]
            return one_of(options) if len(options) == len(found) else None
    return None


def _is_logged(value: Value) -> bool:
    """Whether something beside a loss is there to be logged."""
    return isinstance(value, (Table, Constant)) or (isinstance(value, Op) and value.name in _NUMBERS)


def _given(ev: Evaluator, function: FunctionValue, receiver: Value | None, model: Object) -> Arguments:
    at, predicted = function.origin.code.at, _prediction(function)
    options: dict[str, Value] = {}
    for parameter in _own_parameters(function):
        name = parameter.name
        if name == predicted:
            options[name] = ev.op("output", (ev.unknown(name),), at, name, owner=model)
            model.told_by = f"nobody in sight calls `{_called(function)}`: that `{name}` comes from a model follows from the names"
        elif _TARGET.search(name):
            options[name] = ev.op("iterate", (ev.unknown(name),), at, name)
    return Arguments((receiver,) if receiver is not None else (), options, open=True)


def _called(function: FunctionValue) -> str:
    return function.origin.code.name if function.owner is None else function.owner.code.name


def _own_parameters(function: FunctionValue) -> list[s.Parameter]:
    every = [one for one in function.origin.code.parameters if not one.star]
    return every[1:] if function.owner is not None else every


def _prediction(function: FunctionValue) -> str | None:
    """The parameter that is a model's output: the first, if that is what it is called, or if the second is the target."""
    own = _own_parameters(function)
    if len(own) < 2:
        return None
    is_first = _TARGET.search(own[1].name) and not _NO_OUTPUT.search(own[0].name)
    return own[0].name if _PREDICTION.search(own[0].name) or is_first else None
