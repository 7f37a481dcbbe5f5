"""Methods of modules: where they are put, what mode they are in, and what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from trainlint import limits
from trainlint.facts.api.noted import MAKES_MASK
from trainlint.facts.api.precision import CONVERSIONS, FLOATS
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.contents import put_in_place, taken_apart
from trainlint.facts.model.events.modules import (
    Converted,
    ModeChange,
    ModuleChanged,
    Moved,
    StateLoaded,
    StateTaken,
)
from trainlint.facts.model.events.parameters import ParametersListed
from trainlint.facts.model.events.steps import Backward, Clip, ZeroGrad
from trainlint.facts.model.values import Constant, Items, Named, Object, Op, Table, Value
from trainlint.program.api import elements, filling, hooks, noting, unseen_methods
from trainlint.program.api.container_methods import container_method
from trainlint.program.evaluate import attributes, calling, classes, conditions, keys
from trainlint.program.evaluate.values import Arguments, ClassValue, FunctionValue
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


def state_loaded(ev: Evaluator, target: Value, given: Arguments, at: s.Span, text: str) -> Op:
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


def module_method(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """What a method of `nn.Module` or its like does, where the program does not define it."""
    do = METHODS.get(name)
    made = do(ev, value, name, given, at, text) if do is not None else None
    if made is None and do is None:
        return unseen_methods.called(ev, value, name, given, at, text)
    return made if made is not None else ev.op("call", given.args, at, text, given.options, owner=value)


def _mode(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    mode = given.get(0, "mode")
    known = mode.value if isinstance(mode, Constant) and isinstance(mode.value, bool) else None
    training = name == "train" if mode is None or name == "eval" else known
    gives_back = mode is not None and name == "train" and known is not False and conditions.asks_mode(mode)
    if name == "eval" and _trains_in_its_own_way(ev, value):
        training = None
    ev.emit(ModeChange, at, module=value, training=training, gives_back=gives_back)
    return value


def _trains_in_its_own_way(ev: Evaluator, module: Object) -> bool:
    """Whether `eval()` calls a `train` that the program defines and that does not call torch's, which switches all
    submodules."""
    cls = module.definition
    own = classes.class_attribute(ev, cls, "train") if isinstance(cls, ClassValue) else None
    return isinstance(own, FunctionValue) and own.origin.code.names.isdisjoint(("super", "Module"))


def _cleared(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> None:
    ev.emit(ZeroGrad, at, target=value, to_none=given.get(0, "set_to_none"))


def _module_loaded(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    ev.emit(ModuleChanged, at, module=value, what=name)
    return state_loaded(ev, value, given, at, text)


def _reset(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> None:
    ev.emit(ModuleChanged, at, module=value, what=name)


def _applied(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    """`model.apply(reset)`: the function that is called for each part may draw its weights anew."""
    _reset(ev, value, name, given, at, text)
    return value


def _module_state(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    state = ev.op("state_dict", (), at, text, owner=value)
    ev.emit(StateTaken, at, output=state)
    return state


def _module_parameters(
    ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str
) -> Value:
    listed = ev.op("parameters", (value,), at, text)
    ev.emit(ParametersListed, at, target=value, output=listed, held=_held_now(ev, value))
    return ev.op("items", (Table(others=[listed]),), at) if name == "named_parameters" else listed


def _held_now(ev: Evaluator, module: Object) -> frozenset[int]:
    """The numbers of a module and of all that its attributes are made of at this moment; none where that is too much."""

    def parts(value: Value) -> Iterable[Value]:
        if isinstance(value, Object):
            return ev.store.owned(value.uid).values()
        return (*taken_apart(value), *put_in_place(value))

    found = frozenset(one.uid for one in reached([module], parts, limits.MODULE_PARTS))
    return found if len(found) < limits.MODULE_PARTS else frozenset()


def _modules(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    return ev.op(name, (value,), at, text)


def _same_module(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    _placed(ev, value, name, given, at)
    return value


def _requires_grad(ev: Evaluator, value: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    wanted = given.first("requires_grad") or Constant(value=True)
    attributes.set_requires_grad(ev, value, wanted, at)
    return value


def _module_added(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> None:
    key, part = given.get(0, "name"), given.get(1, "module") or ev.unknown("module")
    is_named = isinstance(key, Constant) and isinstance(key.value, str)
    held = key.value if isinstance(key, Constant) and is_named else f"module added at {at[0]}"
    inside = elements.held(ev, value)
    if isinstance(inside, Items):
        filling.append(ev, inside, part)
    ev.store.set((value.uid, held), part)  # so that it is not one layer more
    ev.set_attribute(value, held, part, at)


def _attribute_set(
    ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str
) -> Value | None:
    """`self.__setattr__(name, layer)`, which is `setattr(self, name, layer)`."""
    key, held = given.get(0, "name"), given.get(1, "value")
    if held is None:
        return None
    if isinstance(key, Constant) and isinstance(key.value, str):
        ev.set_attribute(value, key.value, held, at)
    else:
        ev.store.set((value.uid, f"{keys.BY_A_NAME}{at[0]}"), held)
    return Constant(value=None)


def _part(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value | None:
    """`model.get_submodule("encoder.layer")`."""
    path = given.get(0, "target")
    if not (isinstance(path, Constant) and isinstance(path.value, str)):
        return None
    found: Value = value
    for part in filter(None, path.value.split(".")):
        found = ev.attribute(found, part, at, part)
    return found


def _buffer(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> None:
    key, held = given.get(0, "name"), given.get(1, "tensor")
    if isinstance(key, Constant) and held is not None:
        ev.store.set((value.uid, str(key.value)), held)
    elif held is not None:
        ev.store.set((value.uid, f"{keys.BY_A_NAME}{at[0]}"), held)


def _of_container(
    ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str
) -> Value | None:
    inside = elements.held(ev, value)
    if inside is None:
        return None
    found = container_method(ev, inside, name, given, at)
    return value if name in ("append", "extend", "insert") else found or ev.unknown(name)


def _forward(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    if text.endswith(".forward(…)"):
        noting.note_forward(ev, value, given, at)
    return calling.call_object(ev, value, given, at, text)


def _own_backward(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> None:
    if given.args:
        ev.emit(Backward, at, loss=given.args[0])


def _clipped(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> None:
    """A module whose ranks share its parameters out clips its gradients itself, by the norm of all."""
    ev.emit(Clip, at, parameters=value)


def _mask_of_transformer(
    ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str
) -> Value | None:
    if value.type != "torch.nn.Transformer":
        return None
    return ev.op(f"{value.type}.{name}", given.args, at, text, given.options)


METHODS: dict[str, Callable[[Evaluator, Object, str, Arguments, s.Span, str], Value | None]] = {
    **dict.fromkeys(("train", "eval"), _mode),
    "zero_grad": _cleared,
    "load_state_dict": _module_loaded,
    "reset_parameters": _reset,
    "apply": _applied,
    "state_dict": _module_state,
    **dict.fromkeys(("parameters", "named_parameters", "trainable_parameters"), _module_parameters),
    **dict.fromkeys(("modules", "children", "named_modules", "named_children"), _modules),
    **dict.fromkeys(
        "cuda cpu to half float double bfloat16 share_memory type compile xpu to_empty".split(),
        _same_module,
    ),
    "requires_grad_": _requires_grad,
    **dict.fromkeys(("add_module", "register_module"), _module_added),
    "__setattr__": _attribute_set,
    "register_forward_hook": hooks.registered,
    "get_submodule": _part,
    **dict.fromkeys(("register_buffer", "register_parameter"), _buffer),
    **dict.fromkeys(
        ("append", "extend", "insert", "update", "values", "items", "keys", "pop"), _of_container
    ),
    **dict.fromkeys(("forward", "__call__"), _forward),
    "backward": _own_backward,
    "clip_grad_norm_": _clipped,
    MAKES_MASK: _mask_of_transformer,
}
"""What methods of modules do; a result of None is that of an unknown call."""


def _placed(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span) -> None:
    """Note where a module is moved, and what its parameters are converted to."""
    if name in ("cuda", "cpu"):
        ev.emit(Moved, at, what=value, device=ev.op("device", (Constant(value=name),), at))
    elif name in CONVERSIONS:
        dtype: Value = Named(name=f"torch.{CONVERSIONS[name]}")
        ev.emit(Converted, at, module=value, dtype=dtype)
    elif name in ("to", "type", "to_empty"):
        dtypes = [one for one in given.all() if isinstance(one, Named) and one.name in FLOATS]
        wanted = given.options.get("dtype") or (dtypes[0] if dtypes else None)
        if wanted is not None:
            ev.emit(Converted, at, module=value, dtype=wanted)
        device = given.get(0, "device")
        if device is not None and device is not wanted:
            ev.emit(Moved, at, what=value, device=device)
