"""What calling a method does, where the program itself does not define it: of modules, optimizers, tensors and parsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api import torch_names
from trainlint.facts.api.classes import DICTS, LISTS, LOADER, MODULE, OPTIMIZER, SCALER, SCHEDULER
from trainlint.facts.api.layers import CONTAINERS
from trainlint.facts.api.losses import LOSSES
from trainlint.facts.api.noted import NOTED_METHODS
from trainlint.facts.api.wrappers import STRIPS, is_prefix
from trainlint.facts.model.events.calls import Called
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.steps import (
    Backward,
    OptimizerStep,
    ScaleUpdate,
    SchedulerStep,
    Unscale,
    ZeroGrad,
)
from trainlint.facts.model.values import (
    Choice,
    Constant,
    Items,
    Object,
    Table,
    Value,
    alternatives,
    one_of,
)
from trainlint.program.api import frameworks, noting, old_ways, records, waiting
from trainlint.program.api.container_methods import container_method
from trainlint.program.api.elements import held
from trainlint.program.api.module_methods import module_method, state_loaded
from trainlint.program.api.value_methods import value_method
from trainlint.program.evaluate import calling, containers, contexts, keys, own_attributes
from trainlint.program.evaluate.values import Arguments, Bound, ClassValue, FunctionValue, Partial
from trainlint.program.source import syntax as s

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator


OF_PYTHON = DICTS | LISTS


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
    is_no_tensor = name == "backward" and isinstance(receiver, Object) and receiver.type in LOSSES
    if is_no_tensor or name in NOTED_METHODS or torch_names.seeds(name) or _strips_prefix(name, given):
        ev.emit(
            Called, at, name=name, args=(receiver, *given.args), options=given.options, is_open=given.open
        )
    if not isinstance(receiver, Object):
        old_ways.note_method(ev, receiver, name, given, at, text)
    elif receiver.is_a(SCHEDULER):
        old_ways.note_scheduler(ev, receiver, name, given, at, text)
    inside = held(ev, receiver) if isinstance(receiver, Object) and receiver.is_a(*OF_PYTHON) else receiver
    if isinstance(inside, (Items, Table)):
        found = container_method(ev, inside, name, given, at)
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
    return value_method(ev, receiver, name, given, at, text)


def _strips_prefix(name: str, given: Arguments) -> bool:
    """Whether it is `key.startswith("_orig_mod.")` or the like."""
    if name not in STRIPS or not given.args:
        return False
    return any(isinstance(one, Constant) and is_prefix(one.value) for one in alternatives(given.args[0]))


def _setting(ev: Evaluator, receiver: Value, given: Arguments, at: s.Span, text: str) -> Value:
    """`config.get("loss", "ce")`: the same value each time that it is asked for, so that conditions on it agree."""
    asked = ", ".join(repr(one.value) for one in given.all() if isinstance(one, Constant))
    found = ev.store.get((receiver.uid, keys.asked(asked)))
    if found is None:
        found = value_method(ev, receiver, "get", given, at, text)
        ev.store.set((receiver.uid, keys.asked(asked)), found)
    return found


def _call_super(ev: Evaluator, receiver: Value, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    if name == "__init__":
        ev.store.set((receiver.uid, keys.INITIALISED), Constant(value=True))
        if isinstance(receiver, Object):
            old_ways.note_constructor(ev, receiver, given, at, text)
            if receiver.is_a(*CONTAINERS, *OF_PYTHON):
                containers.fill_container(ev, receiver, given)
            elif receiver.bases & {LOADER, *LOSSES}:
                receiver.args, receiver.options = given.args, given.options
        return Constant(value=None)
    if not isinstance(receiver, Object):
        return ev.op("call", given.args, at, text)
    if name in ("forward", "__call__"):
        if "torch.nn.Sequential" in receiver.bases:
            return calling.sequential(ev, receiver, given, at, text)
        losses = [base for base in receiver.bases if base in LOSSES]
        if losses:
            return noting.loss_of(ev, LOSSES[losses[0]], given, at, text, receiver)
        return ev.op("call", given.args, at, text, given.options, owner=receiver)
    inside = held(ev, receiver)
    if inside is not None and receiver.is_a(*OF_PYTHON):
        found = container_method(ev, inside, name, given, at)
        if found is not None:
            return found
    if (answered := own_attributes.asked_of_base(ev, receiver, name, given, at)) is not None:
        return answered
    handled = frameworks.call_method(ev, receiver, name, given, at)
    if handled is not None:
        return handled
    return _object_method(ev, receiver, name, given, at, text)


def _object_method(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    if value.is_a(OPTIMIZER):
        return _optimizer_method(ev, value, name, given, at, text)
    if value.is_a(SCALER):
        return _scaler_method(ev, value, name, given, at, text)
    if value.is_a(MODULE):
        return module_method(ev, value, name, given, at, text)
    if value.type.startswith("argparse."):
        return _parser_method(ev, value, name, given, at, text)
    if name == "step" and value.is_a(SCHEDULER):
        optimizer = value.argument(0, "optimizer") or ev.unknown("optimizer")
        told = next(iter((*given.args, *given.options.values())), None)
        ev.emit(SchedulerStep, at, scheduler=value, optimizer=optimizer, told=told)
        return ev.op("call", given.args, at, text, given.options, owner=value)
    if isinstance(value.definition, ClassValue):
        of_record = records.method(ev, value, name, given, at, text) if name.startswith("_") else None
        return of_record or value_method(ev, value, name, given, at, text)
    if value.is_a(LOADER) and name == "__iter__":
        return value
    if name == "load_state_dict":
        return state_loaded(ev, value, given, at, text)
    if (awaited := waiting.method(ev, value, name, given, at, text)) is not None:
        return awaited
    if value.type == contexts.STACK and given.args:
        entered = contexts.enter_in(ev, value, name, given.args[0], at)
        if entered is not None:
            return entered
    if value.type == "collections.namedtuple" and (made := records.method(ev, value, name, given, at, text)):
        return made
    if not value.is_a(SCHEDULER) and any(isinstance(one, (Object, FunctionValue)) for one in given.all()):
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
                ev.emit(Escape, at, values=(value, *given.all()))  # such as the groups of another one
        ev.emit(OptimizerStep, at, optimizer=value)
        return result
    elif name == "load_state_dict":
        return state_loaded(ev, value, given, at, text)
    elif name == "backward" and (loss := given.first("loss")) is not None:
        # of a wrapper that scales the loss; a plain optimizer has none
        ev.emit(Backward, at, loss=loss, by_framework=True)
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


def _scaler_method(ev: Evaluator, value: Object, name: str, given: Arguments, at: s.Span, text: str) -> Value:
    first = given.first("optimizer")
    if name == "scale" and first is not None:
        return ev.op("scale", (first,), at, text, owner=value)
    if name == "unscale_" and first is not None:
        ev.emit(Unscale, at, scaler=value, optimizer=first)
    elif name == "step" and first is not None:
        ev.emit(OptimizerStep, at, optimizer=first, scaler=value)
    elif name == "update":
        ev.emit(ScaleUpdate, at, scaler=value, to=given.get(0, "new_scale"))
    elif name == "load_state_dict":
        return state_loaded(ev, value, given, at, text)
    return ev.op("call", given.args, at, text, given.options, owner=value)


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
            ev.store.set((value.uid, keys.option(chosen)), _option_default(ev, given))
        return ev.unknown(name)
    if name in ("parse_args", "parse_known_args"):
        made = ev.object("argparse.Namespace", frozenset(("argparse.Namespace",)), at, Arguments())
        for key, held in ev.store.owned(value.uid).items():
            if (option := keys.option_of(key)) is not None:
                ev.store.set((made.uid, option), held)
        return made if name == "parse_args" else Items(kind="tuple", items=[made, ev.unknown("rest")])
    if name in ("add_argument_group", "add_mutually_exclusive_group"):
        return value
    if name == "set_defaults":
        for key, held in given.options.items():
            ev.store.set((value.uid, keys.option(key)), held)
    return ev.op("call", given.args, at, text, given.options, owner=value)


def _option_default(ev: Evaluator, given: Arguments) -> Value:
    action = given.options.get("action")
    default = given.options.get("default")
    if default is None and isinstance(action, Constant) and action.value in ("store_true", "store_false"):
        return Constant(value=action.value == "store_false", is_default=True)
    if isinstance(default, Constant):
        return Constant(value=default.value, at=default.at, is_default=True)
    return ev.unknown("option")
