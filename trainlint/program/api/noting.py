"""Events for what rules ask about: losses, what is overwritten, forwards called as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api.attention import FUSED, TOLD_BY_SHARE
from trainlint.facts.api.classes import MODULE, PARAMETER
from trainlint.facts.api.gradients import SAVES_RESULT
from trainlint.facts.api.layers import DROPOUTS, WITH_PARAMETERS
from trainlint.facts.api.losses import IGNORED
from trainlint.facts.api.operations import ASKED
from trainlint.facts.api.second_names import DEPRECATED_AMP, DEPRECATED_VARIABLE
from trainlint.facts.model.events.batches import Ignored
from trainlint.facts.model.events.calls import LibraryCall
from trainlint.facts.model.events.forwards import Dropped, ForwardCalled
from trainlint.facts.model.events.losses import LossCall
from trainlint.facts.model.events.operations import Operation
from trainlint.facts.model.events.parameters import GradSwitch, Overwritten
from trainlint.facts.model.values import Constant, Items, Object, Op, Value
from trainlint.program.api.grad_modes import records_inside
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.keys import WRAPPED
from trainlint.program.evaluate.values import Arguments, ClassValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_OVERWRITES = frozenset(("masked_fill", "masked_fill_", "where"))


def note_use(ev: Evaluator, name: str, at: s.Span, text: str, given: Arguments) -> None:
    """Note that a name which the tables know is used."""
    if name in DEPRECATED_AMP or name in DEPRECATED_VARIABLE:
        ev.emit(
            LibraryCall,
            at,
            name=name,
            text=text,
            args=given.args,
            options=given.options,
            records=ev.records,
            is_fallback=ev.in_fallback(),
        )


def note_forward(ev: Evaluator, module: Value, given: Arguments, at: s.Span) -> None:
    """Note that `forward` of a module is called as a method, by other code than its own."""
    if not isinstance(module, Object) or MODULE not in module.bases:
        return
    if ev.store.get((module.uid, WRAPPED)) is not None:
        return
    if any(frame.receiver is module for frame in ev.frames):
        return
    cls = module.definition
    if not (isinstance(cls, ClassValue) and classes.has_method(ev, cls, "__call__")):
        ev.emit(ForwardCalled, at, module=module, inputs=given.args)


def note_dropout(ev: Evaluator, function: str, given: Arguments, at: s.Span) -> None:
    """Note that a function drops in the forward of a module."""
    module = ev.forwarding()
    if module is not None:
        ev.emit(
            Dropped,
            at,
            function=function,
            share=given.get(*(DROPOUTS.get(function) or (FUSED[function], "dropout_p"))),
            training=given.get(2, "training") if function not in TOLD_BY_SHARE else None,
            module=module,
            is_open=given.open,
        )


def loss_of(
    ev: Evaluator, function: str, given: Arguments, at: s.Span, text: str, owner: Object | None = None
) -> Op:
    """A loss of torch's is computed."""
    output = ev.op(function, given.args, at, text, given.options, owner)
    name = owner.type.replace("torch.", "") if owner is not None else _called(function, text)
    ev.emit(
        LossCall,
        at,
        name=name,
        function=function,
        output=output,
        built=owner.at if owner is not None else None,
        is_open=given.open or (owner is not None and owner.is_open),
    )
    return output


def _called(function: str, text: str) -> str:
    """A loss as the program calls it, where that is its name: `F.cross_entropy`, but not `self.criterion`."""
    name = text.removesuffix("(…)")
    return name if name.rpartition(".")[2] == function else f"nn.functional.{function}"


def _overwritten(inputs: tuple[Value, ...]) -> tuple[Value, Value, Value]:
    """What `where(condition, this, otherwise)` keeps, under which condition, and what it puts in place of the rest."""
    where, value, other = inputs[:3]
    return (value, where, other) if isinstance(other, Constant) else (other, where, value)


def note_grad_switch(ev: Evaluator, value: Object, at: s.Span, records: bool | None) -> None:
    """Note that a statement switches autograd, which recorded before or not. In a block without gradients, what switches it
    off holds no longer than the block."""
    if value.type == "torch.set_grad_enabled":
        wanted = records_inside(value)
        if wanted is not False or records is True:
            ev.emit(GradSwitch, at, records=wanted if isinstance(wanted, bool) else None)


def note_overwritten(ev: Evaluator, tensor: Value, at: s.Span) -> None:
    """Note that a parameter, or the result of an operation that keeps it, is changed in place."""
    while isinstance(tensor, Op) and tensor.name == "output":
        tensor = tensor.inputs[0]
    if isinstance(tensor, Op) and (
        tensor.name in SAVES_RESULT or is_parameter(tensor) or _is_weight_of_each(tensor)
    ):
        ev.emit(Overwritten, at, tensor=tensor, records=ev.records)


def is_parameter(value: Op) -> bool:
    """Whether a tensor certainly is a parameter of a layer."""
    match value:
        case Op() if value.name == PARAMETER:
            return True
        case Op(
            name="getattr", inputs=(Object(type=kind),), options={"name": Constant(value="weight" | "bias")}
        ):
            return kind.removeprefix("torch.nn.") in WITH_PARAMETERS and kind.startswith("torch.nn.")
        case Op(name="iterate", inputs=(Op(name="parameters", inputs=(Object(),)),)):
            return True
    return False


def _is_weight_of_each(value: Op) -> bool:
    """Whether it is the weight of each layer of a model in turn: `for layer in model.modules(): layer.weight`."""
    match value:
        case Op(
            name="getattr",
            inputs=(Op(name="iterate", inputs=(Op(name="modules", inputs=(Object(),)),)),),
            options={"name": Constant(value="weight")},
        ):
            return True
    return False


def note_ignored(ev: Evaluator, labels: Value, where: Value, value: Value, at: s.Span) -> None:
    """Note that labels are set to what losses ignore."""
    several = value.items if isinstance(value, Items) else [value]
    if several and all(isinstance(one, Constant) and one.value == IGNORED for one in several):
        ev.emit(Ignored, at, labels=labels, where=where)


def noted(ev: Evaluator, made: Op, at: s.Span, function: str = "") -> Op:
    """Note what rules ask about.

    The log-softmax in a function of the program's own makes that function a loss, or the end of a model.
    """
    frame = ev.frames[-1]
    if made.name in ASKED and not ev.project.is_of_framework(ev.env.path):
        ev.emit(Operation, at, output=made, function=function)
    if made.name in _OVERWRITES and len(made.inputs) > 2:
        tensor, where, value = made.inputs[:3] if made.name != "where" else _overwritten(made.inputs)
        note_ignored(ev, tensor, where, value, at)
    if made.name == "log_softmax" and frame.code is not None:
        receiver = frame.receiver if isinstance(frame.receiver, Object) else None
        is_called = receiver is not None and frame.code.name in ("forward", "__call__")
        name = frame.code.name if receiver is None else made.text.removesuffix("(…)")
        ev.emit(
            LossCall,
            at,
            name=receiver.type if receiver is not None and is_called else name,
            function="log_softmax",
            output=made,
            built=receiver.at if receiver is not None and is_called else None,
        )
    return made
