"""Attributes of tensors, and of what only a library has defined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api.classes import LOADER, MODULE, SCHEDULER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import contents
from trainlint.facts.model.events.modules import Entrusted, ModeChange
from trainlint.facts.model.events.parameters import GradientSet, ParametersRead, RequiresGrad
from trainlint.facts.model.values import Choice, Constant, Items, Object, Op, Table, Unknown, Value, constant
from trainlint.program.api import elements
from trainlint.program.evaluate.values import ClassValue, ModeBefore
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_GIVEN_TO = {"dataset": LOADER, "optimizer": SCHEDULER}
"""Attributes in which an object keeps its first argument."""

GRADIENT_FUNCTIONS = frozenset(
    "_grad_fn grad_fn _backward _ctx _prev creator _op creation_op _parents".split()
)
"""Attributes by which small autograd frameworks hang a tensor into the graph themselves."""
_TENSOR_ATTRIBUTES = frozenset(
    "data grad T mT H shape dtype device requires_grad ndim is_cuda grad_fn itemsize".split()
)

_AS_IT_IS = frozenset("torch.Variable Variable to detach clone cuda cpu".split())
_ZEROS = frozenset("zeros zeros_like new_zeros".split())


def note_entrusted(ev: Evaluator, holder: Value, value: Value, at: s.Span) -> None:
    """A module may be handed to something that is not in sight."""
    if isinstance(holder, (Unknown, Op)):
        for one in contents(value):
            if isinstance(one, Object) and one.is_a(MODULE):
                ev.emit(Entrusted, at, module=one)


def value_attribute(ev: Evaluator, value: Value, name: str, at: s.Span, text: str) -> Value:
    """An attribute of a tensor or of something unknown. The same one each time, where it may be stored."""
    if isinstance(value, Table) and name in value.entries:
        return value.entries[name]
    if isinstance(value, Op) and value.name == "output" and isinstance(value.inputs[0], (Table, Items)):
        return value_attribute(ev, value.inputs[0], name, at, text)
    if name == "data" and _is_packed(value):
        return ev.op("getitem", (value,), at, text)
    if name == "type" and isinstance(value, Op) and value.name == "device":
        told = constant(value.inputs[0]) if value.inputs else None
        if isinstance(told, str):
            return Constant(value=told.partition(":")[0])
    if name == "_grad" and isinstance(value, Op):
        name = "grad"  # what lies behind it
    if name in _TENSOR_ATTRIBUTES:
        if name == "grad":
            ev.emit(ParametersRead, at, target=holder_of(value), only_reads=True)
        return ev.op(name, (value,), at, text)
    made = ev.looked_up("getattr", value, at, text or name, {"name": Constant(value=name)})
    if not isinstance(value, (Items, Table)):
        made.loops = _loops_of(value)
        ev.store.set((value.uid, name), made)
    return made


_PACKS = ("rnn.pack_padded_sequence", "rnn.pack_sequence", "rnn.PackedSequence")
"""How the functions of torch end that give a packed sequence."""


def _is_packed(value: Value, depth: int = 0) -> bool:
    """Whether a value is a packed sequence, whose `data` are its tensor, graph and all."""
    match value:
        case Op(name=name) if name.endswith(_PACKS):
            return True
        case Op(name="getitem") if "index" not in value.options:
            return False  # its tensor
        case Op(inputs=(first, *_)) if value.name == "getitem" or value.owner is not None:
            return depth < 4 and _is_packed(first, depth + 1)
    return False


def _loops_of(value: Value) -> tuple[int, ...]:
    return value.loops if isinstance(value, (Unknown, Op, Object)) else ()


def object_attribute(ev: Evaluator, value: Object, name: str, at: s.Span) -> Value:
    """An attribute of an object that neither it nor its class in the program defines."""
    if name == "module" and MODULE in value.bases:
        return value
    if name == "training" and _was_just_switched_off(ev, value):
        return ModeBefore(value=False)
    if name == "training" and not (ev.is_method_of(value) or ev.forwarding() is value):
        return ModeBefore(value=True)
    if name == "__class__" and isinstance(value.definition, ClassValue):
        return value.definition
    if name in _GIVEN_TO and value.is_a(_GIVEN_TO[name]) and value.argument(0, name) is not None:
        return value.argument(0, name) or ev.unknown(name)
    inside = elements.held(ev, value)
    if isinstance(inside, Table) and name in inside.entries:
        return inside.entries[name]
    return value_attribute(ev, value, name, at, name)


def _was_just_switched_off(ev: Evaluator, value: Object) -> bool:
    """Whether the last event here is `eval()` of a module, called by the function that asks: it is too late to ask for the mode
    that the module was in."""
    last = ev.nodes[-1] if ev.nodes else None
    return (
        isinstance(last, ModeChange)
        and last.module is value
        and last.training is False
        and (last.calls, last.loops, last.guards) == (ev.here.calls, ev.loops, ev.guards)
    )


def holder_of(value: Value) -> Value:
    """Whose gradient `x.grad` is: the module whose parameters `x` is drawn from, or `x` itself."""
    seen = 0
    while seen < 12:
        seen += 1
        match value:
            case Op(name="parameters", inputs=(owner, *_)):
                return owner
            case Op(name="param_groups", inputs=(owner, *_)):
                return owner
            case Op(
                name="iterate" | "getitem" | "grad" | "data" | "getattr" | "detach" | "filter" | "items",
                inputs=(inner, *_),
            ):
                value = inner
            case Op(name="getattr"):
                return value
            case Choice(options=((_, inner), *_)):
                value = inner
            case Items(items=[inner, *_]):
                value = inner
            case _:
                return value
    return value


def written_by_hand(ev: Evaluator, target: Value, name: str, at: s.Span) -> None:
    """`p.data -= ...`, `p.data = ...`, `p -= lr * p.grad`: an update past any optimizer, and not a sum in a dict."""
    holder = holder_of(target)
    is_of_parameter = holder is not target and not isinstance(holder, Table)
    if is_of_parameter or name in ("data", "grad"):
        ev.emit(ParametersRead, at, target=holder, of_gradients=name == "grad", sets=name == "grad")


def gradient_set(ev: Evaluator, target: Value, value: Value, at: s.Span) -> None:
    """`p.grad = value`. What is made of the gradient itself, as one that is scaled, replaces nothing."""
    holder = holder_of(target)
    read = (one for one in reached([value]) if isinstance(one, Op) and one.name == "grad")
    sources = tuple(dict.fromkeys(holder_of(one) for one in read))
    if holder not in sources:
        ev.emit(GradientSet, at, target=holder, sources=sources)


def is_nothing(value: Value) -> bool:
    """Whether a value is None, or a tensor that certainly is all zeros: what a gradient is set to where it is cleared."""
    if isinstance(value, Constant):
        return value.value is None
    while isinstance(value, Op) and value.name in _AS_IT_IS and value.inputs:
        value = value.inputs[0]
    return isinstance(value, Op) and (value.name in _ZEROS or value.text.endswith(".zero_(…)"))


def is_end_token(value: Value) -> bool:
    """Whether a value is the end-of-sequence token of a tokenizer, or its number."""
    match value:
        case Op(name="getattr", options={"name": Constant(value="eos_token" | "eos_token_id")}):
            return True
    return False


def set_requires_grad(
    ev: Evaluator, target: Value, wanted: Value, at: s.Span, assignment: bool = False
) -> None:
    """`x.requires_grad = wanted`, or `x.requires_grad_(wanted)`."""
    ev.emit(RequiresGrad, at, target=target, wanted=wanted, assignment=assignment)
    if isinstance(target, Op) and not (isinstance(wanted, Constant) and wanted.value is False):
        ev.store.touch(target)
        target.is_leaf = True


def state_in(value: Value) -> Op | None:
    """What `state_dict()` has handed out, as it is or in a dict of the same tensors."""
    if isinstance(value, Table) and not value.entries and len(value.others) == 1:
        value = value.others[0]
        while (
            isinstance(value, Op) and value.name in ("iterate", "getitem", "detach", "data") and value.inputs
        ):
            value = value.inputs[0]
    return value if isinstance(value, Op) and value.name == "state_dict" else None
