"""Methods of tensors, and of what is not known: it may be a loss, a module, an optimizer or a scaler."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trainlint.facts.api.gradients import CUTS, DRAWN
from trainlint.facts.api.noted import FITS, STARTS_NOTHING
from trainlint.facts.api.of_tensors import OF_TENSORS
from trainlint.facts.api.operations import EXTENDS
from trainlint.facts.ask.attachment import attachment
from trainlint.facts.ask.contents import contents
from trainlint.facts.ask.flow import made_of
from trainlint.facts.ask.registration import registry_of
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import ModeChange, Moved
from trainlint.facts.model.events.steps import Backward, OptimizerStep, ZeroGrad
from trainlint.facts.model.values import Constant, Object, Op, Table, Unknown, Value, alternatives
from trainlint.program.api import folding, harmless, hooks, host, library, noting, unseen_methods
from trainlint.program.api.module_methods import state_loaded
from trainlint.program.evaluate import attributes
from trainlint.program.evaluate.values import Arguments, Bound, FunctionValue
from trainlint.program.source import syntax as s
from trainlint.program.source.roles import is_named_scheduler

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def value_method(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """A method of a tensor or of something unknown."""
    host.note_method(ev, value, name, given, at, text)
    do = METHODS.get(name)
    made = do(ev, value, name, given, at, text) if do is not None else None
    return made if made is not None else _operation(ev, value, name, given, at, text)


def _operation(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    if isinstance(value, Constant):
        plain = folding.of_text(value, name, given.args) if not (given.open or given.options) else None
        return plain or ev.op("call", (value, *given.args), at, text, given.options)
    if _passes_objects(given) and name not in STARTS_NOTHING:
        ev.emit(Escape, at, values=(value, *given.all()), by=name)
        for one in given.args:
            library.called_back(ev, one, at)
    elif isinstance(value, Unknown) or (isinstance(value, Op) and value.name in ("getattr", "call")):
        if name not in CUTS and name not in STARTS_NOTHING:  # only tensors have the former
            ev.emit(Escape, at, values=(value,), tensors=given.all(), by=name)
    elif given.all() and (isinstance(value, Object) or _is_foreign(value)):
        ev.emit(Escape, at, tensors=given.all())
    made = noting.noted(ev, ev.op(_method_operation(name), (value, *given.args), at, text, given.options), at)
    if name.endswith("_") and isinstance(value, Op) and not name.startswith("_"):
        ev.write(value, made)
        if _is_gradient(value) and name not in METHODS:
            attributes.written_by_hand(ev, value, "", at)
        if name in _IN_PLACE:
            noting.note_overwritten(ev, value, at)
    return made


def _backward(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    first = given.args[0] if given.args else None
    if (
        _is_unseen(value)
        and first is not None
        and not isinstance(first, Constant)
        and not _is_detached_in_sight(first)
    ):
        ev.emit(Backward, at, loss=first, by_framework=True)
        ev.emit(Escape, at, values=(value,))
    else:
        retains, inputs = given.get(1, "retain_graph"), given.get(3, "inputs")
        if ev.unseen_calls:
            unseen_methods.trained(ev, value)
        ev.emit(Backward, at, loss=value, retains=retains, inputs=inputs)
    return Constant(value=None)


def _cleared(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    ev.emit(ZeroGrad, at, target=value, to_none=given.get(0, "set_to_none"))
    return Constant(value=None)


def _gradient_cleared(
    ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str
) -> Value | None:
    if not (isinstance(value, Op) and _is_gradient(value)):
        return None
    ev.emit(ZeroGrad, at, target=attributes.holder_of(value))
    return value


def _mode(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    first = given.args[0] if given.args else None
    is_mode = len(given.all()) <= 1 and (first is None or (name == "train" and isinstance(first, Constant)))
    if isinstance(value, Constant) or not is_mode:
        return None
    training = name == "train" if first is None else getattr(first, "value", None)
    ev.emit(ModeChange, at, module=value, training=training if isinstance(training, bool) else None)
    return value


def _step(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    first = given.args[0] if given.args else None
    if first is not None and not isinstance(first, (FunctionValue, Constant)):
        return None
    if is_named_scheduler(text.partition(".step(")[0].rpartition(".")[2]):
        return None
    result: Value = Constant(value=None)
    if isinstance(first, FunctionValue):
        result = ev.call(first, Arguments(), at, "closure(…)")
    ev.emit(OptimizerStep, at, optimizer=value)
    return result


def _loaded(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    if isinstance(value, Unknown) or _passes_objects(given):
        ev.emit(Escape, at, values=(value, *given.all()))
    return state_loaded(ev, value, given, at, text)


def _state(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    return None if isinstance(value, Constant) else ev.op("state_dict", (value,), at, text)


def _copied(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    is_state = isinstance(value, Op) and value.name in ("state_dict", "copy")
    return ev.op("copy", (value,), at, text) if is_state else None


def _items(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    is_state = isinstance(value, Op) and value.name == "state_dict"
    return ev.op(name, (value,), at, text) if is_state else None


def _popped(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`batch.pop("labels")` of what a loop goes through gives what `batch["labels"]` does."""
    is_key = len(given.all()) == 1 and given.args and isinstance(getattr(given.args[0], "value", None), str)
    if not (is_key and isinstance(value, Op) and value.name == "iterate"):
        return None
    return ev.op("getitem", (value,), at, text, {"index": given.args[0]})


def _requires_grad(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    wanted = given.first("requires_grad") or Constant(value=True)
    attributes.set_requires_grad(ev, value, wanted, at)
    return value


def _moved(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> None:
    device: Value | None = given.args[0] if given.args else None
    if name != "to":
        device = ev.op("device", (Constant(value=name),), at)
    if device is not None:
        ev.emit(Moved, at, what=value, device=device, waits=_waits(name, given))


def _parameters(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    listed = ev.op("parameters", (value,), at, text)
    return ev.op("items", (Table(others=[listed]),), at) if name == "named_parameters" else listed


def _extended(
    ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str
) -> Value | None:
    """`params.extend(others.parameters())` of a list of parameters, or of these with their names."""
    named, added = (_named(one) for one in (value, given.args[0] if given.args else value))
    if name == "extend" and named is not None and added is not None:
        ev.store.touch(named)
        named.others = [*named.others, *added.others]
        return Constant(value=None)
    listed = value
    while isinstance(listed, Op) and listed.name in ("+", "filter") and listed.inputs:
        listed = listed.inputs[0]
    if not (isinstance(listed, Op) and listed.name == "parameters" and isinstance(value, Op)):
        return None
    ev.write(value, ev.op(name, (value, *given.args), at, text))
    return Constant(value=None)


def _named(value: Value) -> Table | None:
    """The parameters in `list(model.named_parameters())`."""
    match value:
        case Op(name="items", inputs=(Table() as table,)):
            return table
    return None


def _scaled(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`scaler.scale(loss)` of a scaler that is not known."""
    is_scaler = isinstance(value, Unknown) or (isinstance(value, Op) and value.name in ("getattr", "call"))
    if not (is_scaler and given.args and len(given.all()) == 1):
        return None
    ev.emit(Escape, at, values=(value,))
    return ev.op("scale", given.args, at, text, {"by": value})


def _updated(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> None:
    """`self._modules.update(layers)`."""
    module = registry_of(value)
    for number, one in enumerate(part for table in given.args for part in contents(table)) if module else ():
        assert module is not None
        ev.set_attribute(module, f"module {number} added at {at[0]}", one, at)


def _drawn(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`Categorical(logits=scores).sample()`."""
    made = value
    while isinstance(made, Op) and made.name == "output" and made.inputs:
        made = made.inputs[0]
    if not (isinstance(made, Op) and made.name.startswith("torch.distributions.")):
        return None
    return ev.op(DRAWN, (value, *given.args), at, text, given.options)


def _fitted(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`StandardScaler().fit(x)` gives the scaler itself."""
    if not (isinstance(value, Op) and value.name.startswith("sklearn.")):
        return None
    _operation(ev, value, name, given, at, text)
    return value


def _bound(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`function.__get__(holder)`: a method of what it is given."""
    if not isinstance(value, FunctionValue) or not given.args:
        return None
    return Bound(receiver=given.args[0], name=value.origin.code.name, function=value)


def _written(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> None:
    attributes.written_by_hand(ev, value, "", at)
    if name == "copy_" and given.args and isinstance(value, Op) and _is_gradient(value):
        attributes.gradient_set(ev, value, given.args[0], at)


METHODS: dict[str, Callable[[Evaluator, Value, str, Arguments, s.Span, str], Value | None]] = {
    "backward": _backward,
    "zero_grad": _cleared,
    **dict.fromkeys(("zero_", "fill_", "detach_"), _gradient_cleared),
    **dict.fromkeys(("train", "eval"), _mode),
    "step": _step,
    "load_state_dict": _loaded,
    "state_dict": _state,
    "copy": _copied,
    "items": _items,
    "pop": _popped,
    "requires_grad_": _requires_grad,
    **dict.fromkeys(("to", "cuda", "cpu"), _moved),
    **dict.fromkeys(("parameters", "trainable_parameters", "named_parameters"), _parameters),
    **dict.fromkeys(EXTENDS, _extended),
    "scale": _scaled,
    "sample": _drawn,
    "fit": _fitted,
    "update": _updated,
    "__get__": _bound,
    "remove": hooks.removed,
    **dict.fromkeys(("add_", "sub_", "copy_", "mul_", "lerp_", "addcdiv_", "set_"), _written),
}
"""Methods that are more than an operation on a tensor; a result of None is that of the operation."""

_IN_PLACE = frozenset(
    "add_ sub_ mul_ div_ pow_ clamp_ fill_ zero_ normal_ uniform_ copy_ exp_ sqrt_ neg_ masked_fill_ relu_ sigmoid_ "
    "tanh_ addcmul_ addcdiv_ lerp_ floor_ round_ scatter_ index_fill_".split()
)
"""Methods that change a tensor in place."""


def _is_unseen(value: Value) -> bool:
    """Whether a value is a parameter, or an attribute, of which nothing is known."""
    while isinstance(value, Op) and value.name == "getattr" and value.inputs:
        value = value.inputs[0]
    return isinstance(value, Unknown) or (isinstance(value, Constant) and value.value is None)


def _is_detached_in_sight(value: Value) -> bool:
    """Whether a program detaches all that a value is made of: it is a gradient that a tensor is given, and no loss."""
    is_cut = any(isinstance(one, Op) and one.name == "detach" for one in made_of(value, _detaches))
    return is_cut and not attachment(value).attached


def _detaches(op: Op) -> bool:
    return op.name == "detach"


def _is_foreign(value: Value) -> bool:
    """Whether a library made a value of which nothing is known."""
    return isinstance(value, Op) and "." in value.name and not harmless.is_harmless(value.name)


def _waits(name: str, given: Arguments) -> bool:
    """Whether a copy to a device is not asked to go on beside the program."""
    wanted = given.get(1, "non_blocking") if name == "cuda" else given.options.get("non_blocking")
    return not (isinstance(wanted, Constant) and wanted.value is True)


def _is_gradient(value: Op) -> bool:
    while value.name in ("data", "detach") and isinstance(value.inputs[0], Op):
        value = value.inputs[0]
    return value.name == "grad"


def _passes_objects(given: Arguments) -> bool:
    return any(
        isinstance(one, (Object, FunctionValue)) for value in given.all() for one in alternatives(value)
    )


def _method_operation(name: str) -> str:
    """The operation that a method of a tensor is, or one that rules ask about; `call` for all others."""
    return name if name in OF_TENSORS or name in FITS else "call"
