"""What modules hold, at whatever depth, and what follows from that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.api.classes import MODULE
from trainlint.facts.api.layers import (
    CONTAINERS,
    MEASURES,
    OF_GRAPHS_ALONE,
    WITH_PARAMETERS,
    WITHOUT_PARAMETERS_IF,
)
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.contents import contents, put_in_place, taken_apart
from trainlint.facts.model.values import Constant, Object, Op, Unknown, Value, constant


def contained(module: Value) -> Iterator[Value]:
    """A module, and all that it and its containers hold."""
    return reached([module], _content)


def _content(value: Value) -> Iterable[Value]:
    if isinstance(value, Object):
        return value.attributes.values()
    return () if isinstance(value, Op) else value.parts()


@question(start=frozenset(), unknown=frozenset())
def held_in(module: Value) -> frozenset[int]:
    """The numbers of a module, and of all that it and its containers hold, but for constants, which others may hold too."""
    return frozenset(one.uid for one in contained(module) if not isinstance(one, Constant))


@question(start=frozenset(), unknown=frozenset())
def numbers_inside(module: Object) -> frozenset[int]:
    """The numbers of what the attributes of a module are in the end made of, and those of the objects among that."""
    return frozenset(one.uid for one in inside(module))


def inside(module: Object) -> Iterator[Value]:
    """The same, as values."""
    every = reached(module.attributes.values(), _held_by, _MOST_INSIDE)
    return (one for one in every if not taken_apart(one))


def _held_by(value: Value) -> Iterable[Value]:
    if isinstance(value, Object):
        return value.attributes.values()
    return (*taken_apart(value), *put_in_place(value))


_MOST_INSIDE = 20_000


def contains(module: Value, wanted: Iterable[int]) -> bool:
    """Whether one of these objects is an attribute of a module, at any depth."""
    return isinstance(module, Object) and not numbers_inside(module).isdisjoint(wanted)


def module_of(target: Value) -> Object | None:
    """The module all of whose parameters are meant: itself, or one of the parameters that a loop goes through."""
    match target:
        case Object():
            return target
        case Op(name="iterate", inputs=(Op(name="parameters", inputs=(Object() as module, *_)),)):
            return module
    return None


def is_part_of(inner: Object, outer: Object) -> bool:
    """Whether a module is another one, or a part of it."""
    return inner is outer or contains(outer, (inner.uid,))


@question(start=False, unknown=None)
def has_parameters(module: Object) -> bool | None:
    """Whether a module holds trainable parameters; None where that cannot be seen."""
    name = module.type.removeprefix("torch.nn.")
    if module.type.startswith("torch.nn."):
        if name in WITH_PARAMETERS:
            return not _is_without_parameters(module, name)
        if module.type not in CONTAINERS:
            is_known = name[:1].isupper() and not name.startswith(("Lazy", "InstanceNorm", "Module"))
            return False if is_known else None
    elif module.definition is None:
        is_without = (
            module.type.startswith("torch_geometric.nn.") and name.rpartition(".")[2] in OF_GRAPHS_ALONE
        ) or module.type.startswith(MEASURES)
        return not is_without if module.is_a(MODULE) else None
    inherited = _inherits_parameters(module)
    if inherited:
        return True
    is_seen = inherited is False
    for one in (one for value in module.attributes.values() for one in contents(value)):
        found = _is_trainable(one, module)
        if found:
            return True
        is_seen = is_seen and found is not None
    return False if is_seen else None


def _inherits_parameters(module: Object) -> bool | None:
    """Whether a class of the program is also a layer of torch with parameters: `class Conv1x1(nn.Conv2d)`; None for one that may
    have been made without."""
    layers = {
        one.removeprefix("torch.nn.") for one in module.bases if one.startswith("torch.nn.")
    } & WITH_PARAMETERS
    if not layers:
        return False
    return None if layers & WITHOUT_PARAMETERS_IF.keys() else True


def _is_without_parameters(layer: Object, name: str) -> bool:
    """Whether a normalisation certainly was created without a weight and a bias."""
    asked = layer.argument(*WITHOUT_PARAMETERS_IF[name]) if name in WITHOUT_PARAMETERS_IF else None
    return constant(asked) is False


def _is_trainable(value: Value, holder: Object) -> bool | None:
    """Whether an attribute is a parameter or holds some; None where that cannot be seen."""
    is_module = holder.is_a(MODULE)
    match value:
        case Op(name="torch.nn.Parameter"):
            asked = value.option(1, "requires_grad")
            return asked is None or constant(asked) is not False
        case Op(name="Tensor"):
            return wants_gradient(value) or not is_module
        case Object() if value is not holder and value.is_a(MODULE):
            return has_parameters(value)
        case Object() if value is not holder and not is_module:
            return has_parameters(value) or False
        case Unknown():
            return None
    return False


def wants_gradient(op: Op) -> bool:
    """Whether a tensor is made with `requires_grad=True`."""
    wants = op.options.get("requires_grad")
    return isinstance(wants, Constant) and wants.value is True
