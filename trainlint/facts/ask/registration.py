"""Which layers a module keeps where torch does not look for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainlint.facts.api.classes import MODULE, OPTIMIZER, PARAMETER, SOME_MODULE
from trainlint.facts.api.layers import CONTAINERS, MODE_DEPENDENT_UNLESS
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.contents import handed_over, leaves
from trainlint.facts.ask.conversions import CONVERSIONS, gives_itself
from trainlint.facts.ask.holding import has_parameters
from trainlint.facts.ask.leaf_tensors import kept_as_tensors
from trainlint.facts.ask.trained_by import may_train_something
from trainlint.facts.model.events.event import Escape
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.events.parameters import ParametersListed
from trainlint.facts.model.modules import Unregistered
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import (
    Choice,
    Constant,
    Items,
    Object,
    Op,
    Table,
    Value,
    alternatives,
    constant,
)

_LISTS_PARTS = frozenset(("children", "modules", "named_children", "named_modules"))


def unregistered(training: Training) -> Iterator[Unregistered]:
    """The plain containers of modules whose layers torch will not see, and the tensors that are no parameters."""
    yield from kept_as_tensors(training)
    for module in training.objects:
        if module.is_a(MODULE) and module.definition is not None and not module.bases & CONTAINERS:
            yield from _lost(training, module)
            yield from _derived(training, module)


_GIVES_ANOTHER = CONVERSIONS | {"clone", "*", "mul", "/", "div"}
"""Operations on a parameter whose result is a tensor of its own, if it was not of that type before."""


def _derived(training: Training, module: Object) -> Iterator[Unregistered]:
    """Attributes that hold what was made of a parameter, where nothing holds the parameter itself."""
    for name, value in module.attributes.items():
        made: Value = value
        steps: list[Op] = []
        while isinstance(made, Op) and made.name in _GIVES_ANOTHER and made.inputs:
            steps.append(made)
            made = made.inputs[0]
        if not isinstance(made, Op) or made.name != PARAMETER or not made.inputs or _is_constant(made):
            continue
        if all(one.in_place or gives_itself(one, made.inputs[0]) for one in steps):
            continue
        if isinstance(value, Op) and value.at is not None and made.uid not in _parameters_held(training):
            places = (made.at,) if made.at is not None and made.at != value.at else ()
            yield Unregistered(value.at, module.type, name, "tensor", "Parameter", places)


def _is_constant(parameter: Op) -> bool:
    """Whether the program says that it is not to be trained."""
    return constant(parameter.option(1, "requires_grad")) is False


@question(start=frozenset(), unknown=frozenset())
def _parameters_held(training: Training) -> frozenset[int]:
    """The numbers of all values that attributes or optimizers hold."""
    held = [value for one in training.objects for value in one.attributes.values()]
    held += [value for one in training.objects if one.is_a(OPTIMIZER) for value in one.args[:1]]
    return frozenset(one.uid for one in reached(held, _inside_containers, 20_000))


def _inside_containers(value: Value) -> Sequence[Value]:
    return value.parts() if isinstance(value, (Items, Table, Choice)) else ()


def _lost(training: Training, module: Object) -> Iterator[Unregistered]:
    for name, value in module.attributes.items():
        if not isinstance(value, (Items, Table)) or (module.uid, name) in training.harmless_containers:
            continue
        layers = [
            one
            for one in _objects(value)  # what a caller hands over may be hidden on purpose
            if one.is_a(MODULE) and one.type != SOME_MODULE and (has_parameters(one) or _drops(one))
        ]
        if _is_hidden(value) or not layers or not _registered(module).isdisjoint(one.uid for one in layers):
            continue
        if not _handed_over(training).isdisjoint(one.uid for one in (value, *layers)):
            continue
        if all(one.uid in _registered_around(training, module) for one in layers):
            continue
        at = (value.at if isinstance(value, Items) else None) or layers[0].at
        if at is not None:
            kind = value.kind if isinstance(value, Items) else "dict"
            yield Unregistered(
                at,
                module.type,
                name,
                kind,
                "ModuleDict" if kind == "dict" else "ModuleList",
                tuple(one.at for one in layers if one.at is not None),
                isinstance(value, Items)
                and all(isinstance(one, Object) and one.is_a(MODULE) for one in value.items),
                training.entry != "class" and may_train_something(training),
                not any(map(has_parameters, layers)),
            )


def _is_hidden(value: Items | Table) -> bool:
    """Whether a list is written around a single layer, which is how one is hidden from torch on purpose."""
    if not isinstance(value, Items) or value.kind != "list" or not value.exact or len(value.items) != 1:
        return False
    at, held = value.at, value.items[0].at if isinstance(value.items[0], Object) else None
    return at is not None and held is not None and (at.line, at.column + 1) == (held.line, held.column)


def _drops(layer: Object) -> bool:
    """Whether it is dropout, and one that no setting switches off."""
    kind = layer.type.removeprefix("torch.nn.")
    if "Dropout" not in kind or kind not in MODE_DEPENDENT_UNLESS:
        return False
    share = layer.argument(*MODE_DEPENDENT_UNLESS[kind])
    return not any(isinstance(one, Constant) and not one.value for one in alternatives(share))


@question(start=frozenset(), unknown=frozenset())
def _handed_over(training: Training) -> frozenset[int]:
    """The numbers of all values that reach an optimizer, or code that is not known."""
    given = [value for one in training.objects if one.is_a(OPTIMIZER) for value in one.args[:1]]
    given += [value for escape in training.events(Escape) for value in escape.values]
    listed = [event.target for event in training.events(ParametersListed)]
    found = {one.uid for value in (*given, *listed) for one in (value, *leaves(value))}
    found.update(one.uid for value in listed for one in _containers_of(value))
    return frozenset(found)


def _containers_of(layer: Value) -> Iterator[Value]:
    """The containers out of which a layer is taken: `for part in self.parts: part["layers"].parameters()` goes through all."""
    return (one for one in handed_over(layer) if isinstance(one, (Items, Table)))


@question(start=frozenset(), unknown=frozenset())
def _registered_around(training: Training, module: Object) -> frozenset[int]:
    """The numbers of the layers that torch knows in a module of which this one is a part: they are lent to it."""
    around = (one for one in training.objects if one is not module and module.uid in _known_to_torch(one))
    return frozenset(number for one in around for number in _known_to_torch(one))


@question(start=frozenset(), unknown=frozenset())
def _known_to_torch(module: Object) -> frozenset[int]:
    """The numbers of the modules that torch finds in a module, at any depth."""
    return frozenset(one.uid for one in reached(_modules_of(module), _modules_of))


def _modules_of(value: Value) -> Iterator[Object]:
    """The modules that a module registers: its attributes, or all that a container of torch's holds."""
    if not (isinstance(value, Object) and value.is_a(MODULE)):
        return
    is_container = bool(value.bases & CONTAINERS)
    for held in value.attributes.values():
        for one in _objects(held) if is_container else alternatives(held):
            if isinstance(one, Object) and one.is_a(MODULE):
                yield one


@question(start=frozenset(), unknown=frozenset())
def _registered(module: Object) -> frozenset[int]:
    """Every object that a module reaches through attributes that are modules."""
    layers = [one for one in reached(_modules_of(module), _modules_of) if isinstance(one, Object)]
    return frozenset(
        inner.uid
        for layer in layers
        for inner in (
            layer,
            *(one for held in layer.attributes.values() for one in (*_objects(held), *_whose_parts(held))),
        )
    )


def _whose_parts(value: Value) -> Iterator[Object]:
    """The modules whose children a container holds: `nn.Sequential(*net.children())` registers what matters of `net`."""
    for one in reached([value], lambda one: () if isinstance(one, Object) else one.parts(), 500):
        if isinstance(one, Op) and one.name in _LISTS_PARTS:
            yield from (of for of in alternatives(one.inputs[0]) if isinstance(of, Object))


def registry_of(value: Value) -> Object | None:
    """The module whose dict of submodules a value is: `module._modules`."""
    match value:
        case Op(name="getattr", inputs=(Object() as module,), options={"name": Constant(value="_modules")}):
            return module if module.is_a(MODULE) else None
    return None


def is_kept(training: Training, wanted: Object) -> bool:
    """Whether something that is made in a forward lives on as an attribute, at whatever depth."""
    within = [one.within for one in training.events(Built) if one.within is not None]
    return any(
        found is wanted
        for one in (*training.objects, *within)
        for value in one.attributes.values()
        for found in _objects(value)
    )


def _objects(value: Value) -> Iterator[Object]:
    inner = reached([value], lambda one: () if isinstance(one, (Object, Op)) else one.parts(), 500)
    return (one for one in inner if isinstance(one, Object))
