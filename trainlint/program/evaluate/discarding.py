"""Results with which nothing is done, of operations that change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainlint.facts.api import torch_names
from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.layers import MAKES_ANOTHER, STATELESS
from trainlint.facts.api.operations import INPLACE_AT, OUT_OF_PLACE, REPLACES_FIELDS
from trainlint.facts.model.events.operations import Discarded
from trainlint.facts.model.values import Items, Object, Op, Table, Value, alternatives, constant
from trainlint.program.evaluate import classes, expressions, names
from trainlint.program.evaluate.values import ClassValue, Library
from trainlint.program.source import syntax as s
from trainlint.program.source.spelling import spelled
from trainlint.program.source.walking import walk

if TYPE_CHECKING:
    from trainlint.program.evaluate.evaluator import Evaluator

_NEAR = 5
"""How many events back a call is looked for that an assignment makes again: one line can give several."""


def note(ev: Evaluator, node: s.Call, value: Op) -> None:
    """`x.clamp(0)` as a statement."""
    name = node.func.name if isinstance(node.func, s.Attribute) else ""
    is_trial = ev.frames[-1].trying > 0
    if _is_of_container(ev, node.func):
        return  # `outputs.pop()` changes the list
    if _is_of_stateless_layer(value):
        if not is_trial:
            ev.emit(
                Discarded, node.at, name="layer", tensor=value.inputs[0], is_method=False, text=value.text
            )
        return
    owner = value.owner
    if (
        owner is not None
        and not is_trial
        and _makes_another(ev, owner, name)
        and not _fills(ev, owner, value)
    ):
        ev.emit(Discarded, node.at, name=name, tensor=owner, text=value.text)
    if _replaces_fields(node, name, value) and not is_trial:
        ev.emit(Discarded, node.at, name="replace", is_method=False, text=value.text)
    if name in OUT_OF_PLACE and value.inputs and not is_trial and not _is_in_place(value):
        root: s.Expr = node.func
        while isinstance(root, s.Attribute):
            root = root.value
        library = names.lookup(ev, root.name) if isinstance(root, s.Name) else None
        if isinstance(library, Library) and library.name.partition(".")[0] != "torch":
            return  # of numbers, or of arrays
        if _is_of_module(ev, node.func):
            return  # whatever it is called, as a layer in `self.relu`: it may work in place
        is_method = not isinstance(library, Library)
        device = value.option(1, "device") if name == "to" else None
        ev.emit(
            Discarded,
            node.at,
            name=name,
            tensor=value.inputs[0],
            is_method=is_method,
            text=value.text,
            device=device,
        )


_MAKE_ANOTHER_RECORD = frozenset(("_replace", "replace", "evolve"))


def note_record(ev: Evaluator, node: s.Call, made: Object) -> None:
    """`dataclasses.replace(config, lr=0.1)` as a statement."""
    name = node.func.name if isinstance(node.func, (s.Attribute, s.Name)) else ""
    is_copy = made.copy_of is not None and made.at == ev.place(node.at)
    if is_copy and name in _MAKE_ANOTHER_RECORD and not ev.frames[-1].trying:
        ev.emit(Discarded, node.at, name="replace", is_method=False, text=f"{ev.label(node.func)}(…)")


def _replaces_fields(node: s.Call, name: str, value: Op) -> bool:
    """Whether a call certainly makes another record with other fields: `_replace` of a named tuple, `dataclasses.replace`."""
    if value.name in REPLACES_FIELDS:
        return True
    is_method = name == "_replace" and value.name == "call" and value.text.endswith("._replace(…)")
    return is_method and bool(node.args) and all(one.keyword is not None for one in node.args)


def _is_of_container(ev: Evaluator, called: s.Expr) -> bool:
    if not isinstance(called, s.Attribute) or not isinstance(called.value, (s.Name, s.Attribute)):
        return False
    return isinstance(expressions.unseen(ev, called.value), (Items, Table))


def _is_of_module(ev: Evaluator, called: s.Expr) -> bool:
    """Whether it is an attribute of a module, or of modules' class: `self.clamp(x)`, `nn.Module.to(self, device)`."""
    if not isinstance(called, s.Attribute) or not isinstance(called.value, (s.Name, s.Attribute)):
        return False
    match expressions.unseen(ev, called.value):
        case Library(name=name):
            return MODULE in torch_names.bases_of_class(name)
        case Object() as holder:
            return holder.is_a(MODULE)
    return False


def _makes_another(ev: Evaluator, owner: Object, name: str) -> bool:
    """Whether it is a class method that leaves the module as it is that it is called on."""
    of, made_by = MAKES_ANOTHER.get(name, ()), owner.definition
    is_own = isinstance(made_by, ClassValue) and classes.class_attribute(ev, made_by, name) is not None
    known = owner.is_a(MODULE) and any(one.startswith(of) for one in (owner.type, *owner.bases))
    return known and not is_own


def _fills(ev: Evaluator, owner: Object, value: Op) -> bool:
    """Whether what it makes is given a module, or what this one has too and calls: the weights are loaded into that, as by
    `load_from_checkpoint(path, model=model)`."""
    given = {each for one in (*value.inputs, *value.options.values()) for each in alternatives(one)}
    if any(isinstance(one, Object) and one.is_a(MODULE) and one is not owner for one in given):
        return True
    parts = {
        f"self.{name}": one
        for name, held in ev.store.owned(owner.uid).items()
        for one in alternatives(held)
        if one in given or (isinstance(one, Object) and one.stands_for in given)
    }
    if any(isinstance(one, Object) and one.is_a(MODULE) for one in parts.values()):
        return True
    body = owner.definition.code.body if parts and isinstance(owner.definition, ClassValue) else ()
    return any(isinstance(node, s.Call) and spelled(node.func) in parts for node in walk(body))


def _is_in_place(value: Op) -> bool:
    """Whether a function is told where to write: `out=`, or `inplace`, by its name or after what else it takes."""
    if {"out", "inplace"} & value.options.keys():
        return True
    position = INPLACE_AT.get(value.name)
    told = value.option(position, "inplace") if position is not None else None
    return told is not None and constant(told) is not False


def _is_of_stateless_layer(value: Op) -> bool:
    """Whether a layer certainly does nothing but to return this."""
    layer = value.owner
    if layer is None or layer.type not in STATELESS or layer.definition is not None or not value.inputs:
        return False
    if value.name == "call":  # one of its methods, such as `register_forward_hook`
        return False
    position = STATELESS[layer.type]
    wanted = layer.argument(position, "inplace") if position is not None else None
    return not layer.is_open and (wanted is None or constant(wanted) is False)


def made_again(ev: Evaluator, value: Value) -> None:
    """A result is assigned right after the same call has stood alone, which showed or tried it: nothing is lost."""
    for one in value.items if isinstance(value, Items) else (value,):
        if isinstance(one, Op) and one.inputs:
            _forget(ev, one)


def _forget(ev: Evaluator, made: Op) -> None:
    for place, event in enumerate(reversed(ev.nodes[-_NEAR:]), 1):
        if isinstance(event, Discarded) and event.tensor is made.inputs[0] and event.text == made.text:
            del ev.nodes[-place]
            return
