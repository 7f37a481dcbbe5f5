"""What calling a method does, where the program itself does not define it: of modules, optimizers, tensors and parsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api import torch_api as api
from trainlint.facts.api import torch_names
from trainlint.facts.model.events import (
    Backward,
    Called,
    Converted,
    Escape,
    ModeChange,
    ModuleChanged,
    Moved,
    OptimizerStep,
    ParametersListed,
    ScaleUpdate,
    SchedulerStep,
    StateLoaded,
    StateTaken,
    Unscale,
    ZeroGrad,
)
from trainlint.facts.model.values import (
    Choice,
    Constant,
    Items,
    Named,
    Object,
    Op,
    Table,
    Unknown,
    Value,
    alternatives,
    one_of,
)
from trainlint.program.api import builtin, frameworks, host, library, noting, old_ways
from trainlint.program.evaluate import attributes, calling, classes, containers
from trainlint.program.evaluate.values import Arguments, Bound, ClassValue, FunctionValue, Partial
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_PARAMETER_LISTS = frozenset(("parameters", "named_parameters", "trainable_parameters"))
_MODULE_LISTS = frozenset(("modules", "children", "named_modules", "named_children"))
_SAME_MODULE = frozenset(
    "cuda cpu to half float double bfloat16 share_memory apply type compile xpu to_empty".split()
)


def call_method(ev: Evaluator, receiver: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """`receiver.name(...)` where the program itself does not define the method."""
    if isinstance(receiver, Choice):
        results = [
            (guards, ev.call(ev.attribute(one, name, at, text), given, at, text))
            for guards, one in receiver.options[:4]
        ]
        return one_of(tuple(results))
    if name.startswith("super."):
        return _call_super(ev, receiver, name[6:], given, at, text)
    if name in api.NOTED_METHODS or torch_names.seeds(name):
        ev.emit(
            Called, at, name=name, args=(receiver, *given.args), options=given.options, is_open=given.open
        )
    if not isinstance(receiver, Object):
        old_ways.note_method(ev, receiver, name, given, at, text)
    elif receiver.is_a(api.SCHEDULER):
        old_ways.note_scheduler(ev, receiver, name, given, at, text)
    if isinstance(receiver, (Items, Table)):
        found = builtin.container_method(ev, receiver, name, given, at)
        if found is not None:
            return found
    if isinstance(receiver, Object):
        handled = frameworks.call_method(ev, receiver, name, given, at)
        if handled is not None:
            return handled
        return _object_method(ev, receiver, name, given, at, text)
    if (
        name == "get"
        and given.args
        and all(isinstance(one, Constant) for one in given.all())
        and not given.open
    ):
        return _setting(ev, receiver, given, at, text)
    return _value_method(ev, receiver, name, given, at, text)


def _setting(ev: Evaluator, receiver: Value, given: Arguments, at: s.Span, text: str) -> Value:
    """`config.get("loss", "ce")`: the same value each time that it is asked for, so that conditions on it agree."""
    asked = ", ".join(repr(one.value) for one in given.all() if isinstance(one, Constant))
    found = ev.store.get((receiver.uid, f"get({asked})"))
    if found is None:
        found = _value_method(ev, receiver, "get", given, at, text)
        ev.store.set((receiver.uid, f"get({asked})"), found)
    return found


def _call_super(ev: Evaluator, receiver: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    if name == "__init__":
        ev.store.set((receiver.uid, classes.INITIALISED), Constant(value=True))
        if isinstance(receiver, Object):
            old_ways.note_constructor(ev, receiver, given, at, text)
            if not receiver.bases.isdisjoint(api.CONTAINERS):
                containers.fill_container(ev, receiver, given)
            elif receiver.bases & {api.LOADER, *api.LOSSES}:
                receiver.args, receiver.options = given.args, given.options
        return Constant(value=None)
    if not isinstance(receiver, Object):
        return ev.op("call", given.args, at, text)
    if name in ("forward", "__call__"):
        if "torch.nn.Sequential" in receiver.bases:
            return calling.sequential(ev, receiver, given, at, text)
        losses = [base for base in receiver.bases if base in api.LOSSES]
        if losses:
            return noting.loss_of(ev, api.LOSSES[losses[0]], given, at, text, receiver)
        return ev.op("call", given.args, at, text, given.options, owner=receiver)
    handled = frameworks.call_method(ev, receiver, name, given, at)
    if handled is not None:
        return handled
    return _object_method(ev, receiver, name, given, at, text)


def _object_method(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    if value.is_a(api.OPTIMIZER):
        return _optimizer_method(ev, value, name, given, at, text)
    if value.is_a(api.SCALER):
        return _scaler_method(ev, value, name, given, at, text)
    if value.is_a(api.MODULE):
        return _module_method(ev, value, name, given, at, text)
    if value.type.startswith("argparse."):
        return _parser_method(ev, value, name, given, at, text)
    if name == "step" and value.is_a(api.SCHEDULER):
        optimizer = value.argument(0, "optimizer") or ev.unknown("optimizer")
        told = next(iter((*given.args, *given.options.values())), None)
        ev.emit(SchedulerStep, at, scheduler=value, optimizer=optimizer, told=told)
        return ev.op("call", given.args, at, text, given.options, owner=value)
    if isinstance(value.definition, ClassValue):
        return _value_method(ev, value, name, given, at, text)
    if value.is_a(api.LOADER) and name == "__iter__":
        return value
    if name == "load_state_dict":
        return _state_loaded(ev, value, given, at, text)
    if not value.is_a(api.SCHEDULER) and any(isinstance(one, (Object, FunctionValue)) for one in given.all()):
        ev.emit(Escape, at, values=(value, *given.all()))
    return ev.op("call", given.args, at, text, given.options, owner=value)


def _optimizer_method(
    ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str
) -> Value:
    if name == "zero_grad":
        ev.emit(ZeroGrad, at, target=value, to_none=given.get(0, "set_to_none"))
    elif name == "step":
        closure = given.get(0, "closure")
        result: Value = Constant(value=None)
        if closure is not None and not (isinstance(closure, Constant) and closure.value is None):
            result = ev.call(closure, Arguments(), at, "closure(…)")
            if not isinstance(closure, (FunctionValue, Bound, Partial)):
                ev.emit(Escape, at, values=(value,))
        ev.emit(OptimizerStep, at, optimizer=value)
        return result
    elif name == "load_state_dict":
        return _state_loaded(ev, value, given, at, text)
    elif name == "add_param_group" and (group := given.get(0, "param_group")) is not None:
        _add_group(ev, value, group)
    return ev.op("call", given.args, at, text, given.options, owner=value)


def _add_group(ev: Evaluator, optimizer: Object, group: Value) -> None:
    """Make a group one more of those that an optimizer holds."""
    held = optimizer.argument(0, "params")
    before = held.items if isinstance(held, Items) else [held] if held is not None else []
    ev.store.touch(optimizer)
    groups = Items(items=[*before, group])
    if "params" in optimizer.options:
        optimizer.options = {**optimizer.options, "params": groups}
    else:
        optimizer.args = (groups, *optimizer.args[1:])


def _state_loaded(ev: Evaluator, target: Value, given: Arguments, at: s.Span, text: str) -> Op:
    """`load_state_dict`, of whatever has it. Its result is what the event asks later."""
    owner = target if isinstance(target, Object) else None
    result = ev.op("call", given.args, at, text, given.options, owner=owner)
    ev.emit(
        StateLoaded,
        at,
        target=target,
        state=given.get(0, "state_dict") or ev.unknown(),
        strict=given.get(1, "strict"),
        result=result,
    )
    return result


def _scaler_method(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    first = given.args[0] if given.args else None
    if name == "scale" and first is not None:
        return ev.op("scale", (first,), at, text, owner=value)
    if name == "unscale_" and first is not None:
        ev.emit(Unscale, at, scaler=value, optimizer=first)
    elif name == "step" and first is not None:
        ev.emit(OptimizerStep, at, optimizer=first, scaler=value)
    elif name == "update":
        ev.emit(ScaleUpdate, at, scaler=value, to=given.get(0, "new_scale"))
    return ev.op("call", given.args, at, text, given.options, owner=value)


def _module_method(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    first = given.args[0] if given.args else None
    if name in ("train", "eval"):
        mode = given.get(0, "mode")
        known = mode.value if isinstance(mode, Constant) and isinstance(mode.value, bool) else None
        training = name == "train" if mode is None or name == "eval" else known
        ev.emit(ModeChange, at, module=value, training=training)
        return value
    if name == "zero_grad":
        ev.emit(ZeroGrad, at, target=value, to_none=given.get(0, "set_to_none"))
    elif name == "load_state_dict":
        ev.emit(ModuleChanged, at, module=value, what=name)
        return _state_loaded(ev, value, given, at, text)
    elif name == "reset_parameters":
        ev.emit(ModuleChanged, at, module=value, what=name)
    elif name == "state_dict":
        state = ev.op("state_dict", (), at, text, owner=value)
        ev.emit(StateTaken, at, output=state)
        return state
    elif name in _PARAMETER_LISTS:
        ev.emit(ParametersListed, at, target=value)
        listed = ev.op("parameters", (value,), at, text)
        return ev.op("items", (Table(others=[listed]),), at) if name == "named_parameters" else listed
    elif name in _MODULE_LISTS:
        return ev.op(name, (value,), at, text)
    elif name in _SAME_MODULE:
        _placed(ev, value, name, given, at)
        return value
    elif name == "requires_grad_":
        attributes.set_requires_grad(ev, value, first or Constant(value=True), at)
        return value
    elif name in ("add_module", "register_module") and len(given.args) == 2:
        key = given.args[0]
        held = (
            key.value
            if isinstance(key, Constant) and isinstance(key.value, str)
            else f"module added at {at[0]}"
        )
        ev.set_attribute(value, held, given.args[1], at)
        inside = builtin.held(ev, value)
        if isinstance(inside, Items):
            builtin.append(ev, inside, given.args[1])
    elif name == "register_buffer" and len(given.args) > 1 and isinstance(given.args[0], Constant):
        ev.store.set((value.uid, str(given.args[0].value)), given.args[1])
    elif name in ("append", "extend", "insert", "update", "values", "items", "keys", "pop"):
        inside = builtin.held(ev, value)
        if inside is not None:
            found = builtin.container_method(ev, inside, name, given, at)
            return value if name in ("append", "extend", "insert") else found or ev.unknown(name)
    elif name in ("forward", "__call__"):
        if text.endswith(".forward(…)"):
            noting.note_forward(ev, value, at)
        return calling.call_object(ev, value, given, at, text)
    elif name == "backward" and first is not None:
        ev.emit(Backward, at, loss=first)
    elif name == "generate_square_subsequent_mask" and value.type == "torch.nn.Transformer":
        return ev.op(f"{value.type}.{name}", given.args, at, text, given.options)
    return ev.op("call", given.args, at, text, given.options, owner=value)


def _placed(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span) -> None:
    """Note where a module is moved, and what its parameters are converted to."""
    if name in ("cuda", "cpu"):
        ev.emit(Moved, at, what=value, device=ev.op("device", (Constant(value=name),), at))
    elif name in api.CONVERSIONS:
        dtype: Value = Named(name=f"torch.{api.CONVERSIONS[name]}")
        ev.emit(Converted, at, module=value, dtype=dtype)
    elif name in ("to", "type", "to_empty"):
        dtypes = [one for one in given.all() if isinstance(one, Named) and one.name in api.FLOATS]
        wanted = given.options.get("dtype") or (dtypes[0] if dtypes else None)
        if wanted is not None:
            ev.emit(Converted, at, module=value, dtype=wanted)
        device = given.get(0, "device")
        if device is not None and device is not wanted:
            ev.emit(Moved, at, what=value, device=device)


def _parser_method(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """argparse: what each option holds if the user does not give it."""
    if name == "add_argument":
        names = [one.value for one in given.args if isinstance(one, Constant) and isinstance(one.value, str)]
        if names:
            chosen = (
                next((one for one in names if one.startswith("--")), names[0]).lstrip("-").replace("-", "_")
            )
            dest = given.options.get("dest")
            if isinstance(dest, Constant) and isinstance(dest.value, str):
                chosen = dest.value
            ev.store.set((value.uid, f"option {chosen}"), _option_default(ev, given))
        return ev.unknown(name)
    if name in ("parse_args", "parse_known_args"):
        made = ev.object("argparse.Namespace", frozenset(("argparse.Namespace",)), at, Arguments())
        for key, held in ev.store.owned(value.uid).items():
            if key.startswith("option "):
                ev.store.set((made.uid, key[7:]), held)
        return made if name == "parse_args" else Items(kind="tuple", items=[made, ev.unknown("rest")])
    if name in ("add_argument_group", "add_mutually_exclusive_group"):
        return value
    if name == "set_defaults":
        for key, held in given.options.items():
            ev.store.set((value.uid, f"option {key}"), held)
    return ev.op("call", given.args, at, text, given.options, owner=value)


def _option_default(ev: Evaluator, given: Arguments) -> Value:
    action = given.options.get("action")
    default = given.options.get("default")
    if default is None and isinstance(action, Constant) and action.value in ("store_true", "store_false"):
        return Constant(value=action.value == "store_false", is_default=True)
    if isinstance(default, Constant):
        return Constant(value=default.value, at=default.at, is_default=True)
    return ev.unknown("option")


def _value_method(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """A method of a tensor or of something unknown."""
    host.note_method(ev, value, name, given, at, text)
    first = given.args[0] if given.args else None
    match name:
        case "backward":
            if _is_unseen(value) and first is not None and not isinstance(first, Constant):
                ev.emit(Backward, at, loss=first, by_framework=True)
                ev.emit(Escape, at, values=(value,))
            else:
                ev.emit(Backward, at, loss=value, retains=given.get(1, "retain_graph"))
            return Constant(value=None)
        case "zero_grad":
            ev.emit(ZeroGrad, at, target=value, to_none=given.get(0, "set_to_none"))
            return Constant(value=None)
        case "zero_" | "fill_" | "detach_" if isinstance(value, Op) and _is_gradient(value):
            ev.emit(ZeroGrad, at, target=attributes.holder_of(value))
            return value
        case "train" | "eval" if not isinstance(value, Constant) and (not given.args or name == "train"):
            if len(given.all()) <= 1 and (first is None or isinstance(first, Constant)):
                training = name == "train" if first is None else getattr(first, "value", None)
                ev.emit(
                    ModeChange, at, module=value, training=training if isinstance(training, bool) else None
                )
                return value
        case "step" if not given.args or isinstance(first, (FunctionValue, Constant)):
            result: Value = Constant(value=None)
            if isinstance(first, FunctionValue):
                result = ev.call(first, Arguments(), at, "closure(…)")
            ev.emit(OptimizerStep, at, optimizer=value)
            return result
        case "load_state_dict":
            if isinstance(value, Unknown) or _passes_objects(given):
                ev.emit(Escape, at, values=(value, *given.all()))
            return _state_loaded(ev, value, given, at, text)
        case "state_dict" if not isinstance(value, Constant):
            return ev.op("state_dict", (value,), at, text)
        case "copy" if isinstance(value, Op) and value.name in ("state_dict", "copy"):
            return ev.op("copy", (value,), at, text)
        case "requires_grad_":
            attributes.set_requires_grad(ev, value, first or Constant(value=True), at)
            return value
        case "to" | "cuda" | "cpu":
            device = ev.op("device", (Constant(value=name),), at) if name != "to" else first
            if device is not None:
                ev.emit(Moved, at, what=value, device=device, waits=_waits(name, given))
        case "parameters" | "trainable_parameters":
            return ev.op("parameters", (value,), at, text)
        case "named_parameters":
            return ev.op("items", (Table(others=[ev.op("parameters", (value,), at, text)]),), at)
        case "scale" if first is not None and not isinstance(value, Constant) and len(given.all()) == 1:
            if isinstance(value, Unknown) or (isinstance(value, Op) and value.name in ("getattr", "call")):
                ev.emit(Escape, at, values=(value,))
                return ev.op("scale", (first,), at, text, {"by": value})
        case "add_" | "sub_" | "copy_" | "mul_" | "addcdiv_" | "set_":
            attributes.written_by_hand(ev, value, "", at)
    if isinstance(value, Constant):
        return ev.op("call", (value, *given.args), at, text, given.options)
    if _passes_objects(given):
        ev.emit(Escape, at, values=(value, *given.all()))
        for one in given.args:
            library.called_back(ev, one, at)
    elif isinstance(value, Unknown) or (isinstance(value, Op) and value.name in ("getattr", "call")):
        ev.emit(Escape, at, values=(value,), tensors=given.all())
    elif given.all() and (isinstance(value, Object) or _is_foreign(value)):
        ev.emit(Escape, at, tensors=given.all())
    made = noting.noted(ev, ev.op(_method_operation(name), (value, *given.args), at, text, given.options), at)
    if name.endswith("_") and isinstance(value, Op) and not name.startswith("_"):
        ev.write(value, made)
        if name in _IN_PLACE:
            noting.note_overwritten(ev, value, at)
    return made


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


def _is_foreign(value: Value) -> bool:
    """Whether a library made a value of which nothing is known."""
    return isinstance(value, Op) and "." in value.name and not library.is_harmless(value.name)


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


_TENSOR_OPERATIONS = (
    set(api.MAKES)
    | set(api.TURNS)
    | api.KEEPS
    | api.CLAMPS
    | api.CUTS
    | api.NO_GRADIENT
    | api.ADDITIVE
    | api.SCALING
    | api.LOSS_FUNCTIONS
    | set(
        "matmul bmm mm mean sum pow exp log sqrt abs norm max min logsumexp relu tanh masked_fill masked_fill_ "
        "std var prod cumsum dot einsum baddbmm where add_ sub_ mul_ div_ log_prob entropy topk sort amax cummax "
        "tril triu tril_ triu_ logical_not logical_and logical_or bitwise_not bitwise_and bitwise_or new_ones new_zeros "
        "repeat astype "
        "log2 log10 log1p expm1 rsqrt reciprocal rsub astype roll masked_select".split()
    )
) - (api.NOT_METHODS | set(api.LOSS_FUNCTIONS))


def _method_operation(name: str) -> str:
    """The operation that a method of a tensor is, or one that rules ask about; `call` for all others."""
    return name if name in _TENSOR_OPERATIONS or name in api.FITS else "call"
