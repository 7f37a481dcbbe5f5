"""Layers that a module of the program keeps under a name that no code reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainlint.facts.api.classes import MODULE, PARAMETER, SOME_MODULE
from trainlint.facts.api.layers import COPY_A_LAYER
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.holding import contained, has_parameters
from trainlint.facts.model.events.forwards import Forward
from trainlint.facts.model.events.modules import Built
from trainlint.facts.model.modules import BY_ANY_NAME, Unread
from trainlint.facts.model.nodes import Node
from trainlint.facts.model.order import events
from trainlint.facts.model.values import Constant, Items, Object, Op, Table, Value
from trainlint.program.evaluate import classes
from trainlint.program.evaluate.evaluator import Evaluator
from trainlint.program.evaluate.values import ClassValue
from trainlint.program.source import syntax as s

_PLAIN_BASES = frozenset((MODULE, "lightning.LightningModule"))
"""Classes of libraries that use no layer by a name of their own."""
_ADD_MODULES = frozenset(("add_module", "register_module", "setattr", "__setattr__"))
_KEEPS = frozenset(
    "numel requires_grad requires_grad_ init clip_grad_norm_ grad data optim step zero_grad backward".split()
)
"""What a method reads that looks at parameters, changes or trains them itself, and gives them to nobody."""
_REGISTER = frozenset(("ModuleList", "ModuleDict"))


def unread(ev: Evaluator, objects: Iterable[Object], nodes: list[Node]) -> Iterator[Unread]:
    """What no code reads of the modules among some objects. Those that a forward creates anew each time are in no
    checkpoint, whatever they hold. A module of which no layer at all is read is a sketch, or gets its weights back from its
    caller, who lists its parameters."""
    found = [
        (module, layer, Unread(layer.at, module.type, name, layer.type.removeprefix("torch.")))
        for module, name in _unread_names(ev, objects)
        if isinstance(layer := module.attributes[name], Object)
        and layer.at is not None
        and _is_lost(layer, name, module)
    ]
    if not found:
        return
    met = list(events(nodes))
    anew = {one.object.uid for one in met if isinstance(one, Built) and one.within is not None}
    called = _called(one for one in met if isinstance(one, Forward))
    left = {layer.uid for _, layer, _ in found}
    for module, layer, lost in found:
        is_used = any(_is_trained(one) and one.uid not in left for one in module.attributes.values())
        if is_used and module.uid not in anew and not _may_run_elsewhere(module, layer, called):
            yield lost


def _is_trained(held: Value) -> bool:
    """Whether an attribute of a module is a parameter, a layer that has some, or may hold either."""
    if isinstance(held, Object):
        return held.is_a(MODULE) and has_parameters(held) is not False
    return not isinstance(held, Constant) and (not isinstance(held, Op) or held.name == PARAMETER)


def _called(forwards: Iterable[Forward]) -> set[int]:
    """The numbers of the modules that are called, from outside or in each other."""
    made = reached([one.output for one in forwards])
    return {one.owner.uid for one in made if isinstance(one, Op) and one.owner is not None}


def _may_run_elsewhere(module: Object, layer: Object, called: set[int]) -> bool:
    """Whether a layer is lent to a module, and called by another name, or perhaps by code that is not in sight, as
    all that calls the module is."""
    is_lent = any(one is layer for one in (*module.args, *module.options.values()))
    return is_lent and (layer.uid in called or module.uid not in called)


def harmless_containers(ev: Evaluator, objects: Iterable[Object]) -> frozenset[tuple[int, str]]:
    """Plain lists and dicts of modules that do no harm: no code reads them, a method registers their modules or gives the
    parameters of these to its callers, or torch only copies them. Each by the number of the module that holds it, and its name."""
    objects = tuple(objects)
    found = (
        *_unread_names(ev, objects),
        *_added_names(ev, objects),
        *_copied_names(ev, objects),
        *_listed_names(ev, objects),
    )
    return frozenset(
        (module.uid, name) for module, name in found if isinstance(module.attributes[name], (Items, Table))
    )


def _added_names(ev: Evaluator, objects: Iterable[Object]) -> Iterator[tuple[Object, str]]:
    """Attributes of modules that stand in a method that adds modules by other names, such as `add_module(one.name, one)`, or
    beside the constructor puts some into a container that registers them: `nn.ModuleList(self.models.keys())`."""
    for module in objects:
        cls = module.definition
        if isinstance(cls, ClassValue) and MODULE in module.bases:
            adding = [one for one in classes.methods(ev, cls) if _adds_modules(one)]
            for name in module.attributes:
                if any(name in one.names for one in adding):
                    yield module, name


def _listed_names(ev: Evaluator, objects: Iterable[Object]) -> Iterator[tuple[Object, str]]:
    """Attributes of modules in methods that return parameters, as by `params += list(part.parameters())`: where such a method is
    called, its caller may give them to an optimizer."""
    for module in objects:
        cls = module.definition
        if isinstance(cls, ClassValue) and MODULE in module.bases:
            listing = [one for one in classes.methods(ev, cls) if _hands_on(one) and ev.is_read(one.name)]
            for name in module.attributes if listing else ():
                if any(name in one.names for one in listing):
                    yield module, name


def _hands_on(method: s.Function) -> bool:
    is_special = method.name.startswith("__")
    return not is_special and "parameters" in method.names and _KEEPS.isdisjoint(method.names)


def _copied_names(ev: Evaluator, objects: tuple[Object, ...]) -> Iterator[tuple[Object, str]]:
    """Attributes of modules that only the constructor names, and whose layers it hands to a module of torch's that copies
    them: `nn.TransformerEncoder(self.layers[i], 2)`."""
    copied = {one.uid for each in objects if each.type in COPY_A_LAYER for one in _layers(_to_copy(each))}
    for module in objects if copied else ():
        cls = module.definition
        if isinstance(cls, ClassValue) and MODULE in module.bases:
            others = [one for one in classes.methods(ev, cls) if one.name != "__init__"]
            for name, held in module.attributes.items():
                layers = [one.uid for one in _layers(held)]
                if layers and copied.issuperset(layers) and not any(name in one.names for one in others):
                    yield module, name


def _to_copy(module: Object) -> Value | None:
    return module.argument(0, COPY_A_LAYER[module.type])


def _layers(held: Value | None) -> Iterator[Object]:
    """The modules that a value is, or is an item of, or holds."""
    inside = reached(
        [held] if held is not None else [], lambda one: () if isinstance(one, Object) else one.parts()
    )
    return (one for one in inside if isinstance(one, Object) and one.is_a(MODULE))


def _adds_modules(method: s.Function) -> bool:
    is_beside = method.name != "__init__" and not _REGISTER.isdisjoint(method.names)
    return is_beside or not _ADD_MODULES.isdisjoint(method.names)


def _unread_names(ev: Evaluator, objects: Iterable[Object]) -> Iterator[tuple[Object, str]]:
    """Modules of the program, and attributes of theirs that no code reads."""
    for module in objects:
        cls = module.definition
        if isinstance(cls, ClassValue) and MODULE in module.bases and _is_plain(ev, cls):
            for name in module.attributes:
                if name.isidentifier() and not ev.is_read(name):
                    yield module, name


def _is_plain(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether all code that may use the layers of a class is known, and uses them by name."""
    if (
        cls.has_unknown_base
        or not cls.library_bases <= _PLAIN_BASES
        or not classes.has_method(ev, cls, "forward")
    ):
        return False
    return all(BY_ANY_NAME.isdisjoint(one.names) for one in classes.methods(ev, cls))


def _is_lost(layer: Object, name: str, module: Object) -> bool:
    """Whether it is a layer with parameters of which nothing else in its module holds any."""
    if not layer.is_a(MODULE) or has_parameters(layer) is not True:
        return False
    others = [value for key, value in module.attributes.items() if key != name]
    if any(one is layer for value in others for one in contained(value)):  # which is soon seen
        return False
    inside = {
        one.uid
        for value in (layer, *_wrapped(layer))
        for one in contained(value)
        if isinstance(one, Object) and has_parameters(one) is not False
    }
    inside |= {one.stands_for.uid for one in _wrapped(layer) if one.stands_for is not None}
    return not any(one.uid in inside for value in others for one in contained(value))


def _wrapped(layer: Object) -> list[Object]:
    """What a library's module was made of: it may hold that itself, or may have changed it in place, as adapters do. The
    layers of torch copy what they are made of."""
    if layer.definition is not None or (layer.type != SOME_MODULE and layer.type.startswith("torch.")):
        return []
    return [one for one in (*layer.args, *layer.options.values()) if isinstance(one, Object)]
