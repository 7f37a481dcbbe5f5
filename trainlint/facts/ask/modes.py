"""What in a model is another in training than in evaluation."""

from __future__ import annotations

from collections.abc import Sequence

from trainlint.facts.api.attention import TOLD_BY_SHARE
from trainlint.facts.api.classes import LOADER, OPTIMIZER, SCALER, SCHEDULER
from trainlint.facts.api.layers import (
    CONTAINERS,
    GRAPH_LAYERS,
    MODE_DEPENDENT,
    MODE_DEPENDENT_IF,
    MODE_DEPENDENT_UNLESS,
    RECURRENT,
)
from trainlint.facts.ask.asking import question, reached
from trainlint.facts.ask.contents import leaves, taken_apart
from trainlint.facts.ask.guards import depends_on_mode
from trainlint.facts.ask.tensors import is_tensor
from trainlint.facts.model.events.event import Event
from trainlint.facts.model.events.forwards import Dropped, Forward
from trainlint.facts.model.training import Training
from trainlint.facts.model.values import Constant, Object, Op, Unknown, Value, alternatives, constant

_ONE = Constant(value=1)

_NO_LAYERS = (OPTIMIZER, SCHEDULER, LOADER, SCALER)
"""What models keep beside their layers, to train themselves."""

_NUMBERS = frozenset(("item", "tolist", "numpy", "builtins.len"))
"""Operations whose result is no layer, and holds none."""


def is_inside(event: Event, forward: Forward) -> bool:
    """Whether something happens in a forward itself."""
    return event.calls[: len(forward.calls) + 1] == (*forward.calls, forward.at)


def drops_by_mode(training: Training, forward: Forward) -> list[Dropped]:
    """Functions with dropout that a forward calls, and that certainly drop in training mode alone: they are told
    `self.training`, or a share that depends on it."""
    return [one for one in training.events(Dropped) if is_inside(one, forward) and _is_told_the_mode(one)]


def _is_told_the_mode(dropped: Dropped) -> bool:
    if dropped.is_open:
        return False
    if dropped.function in TOLD_BY_SHARE:
        return depends_on_mode(dropped.share)
    is_off = any(isinstance(one, Constant) and not one.value for one in alternatives(dropped.share))
    return depends_on_mode(dropped.training) and not is_off


@question(start=False, unknown=True)
def may_depend_on_mode(module: Object) -> bool:
    """Whether a module may behave otherwise in training than in evaluation, as far as its layers are known."""
    is_layer = module.type.startswith("torch.nn.") and module.type not in CONTAINERS
    if module.is_a(*_NO_LAYERS):
        return False
    if is_layer and module.definition is None:
        return _layer_depends_on_mode(module, module.type.removeprefix("torch.nn."))
    if module.definition is None and not module.type.startswith("torch.nn."):
        return not is_graph_layer_without_modes(module)
    held = reached(module.attributes.values(), _layers_of)
    return any(
        isinstance(one, Unknown) or (isinstance(one, Object) and may_depend_on_mode(one))
        for one in held
        if one is not module
    )


def _layers_of(value: Value) -> Sequence[Value]:
    """What a value is made of, and may be a layer: neither a loss that a list keeps nor a number is made of any."""
    is_number = isinstance(value, Op) and (value.name in _NUMBERS or is_tensor(value))
    return () if is_number else taken_apart(value)


@question(start=False, unknown=False)
def is_graph_layer_without_modes(module: Object) -> bool:
    """Whether a layer for graphs certainly does the same in both modes."""
    kind = module.type.rpartition(".")[2]
    if not module.type.startswith("torch_geometric.nn.") or kind not in GRAPH_LAYERS or module.is_open:
        return False
    position = GRAPH_LAYERS[kind]
    dropout = module.argument(position, "dropout") if position is not None else None
    given = (one for value in (*module.args, *module.options.values()) for one in leaves(value))
    return (dropout is None or constant(dropout) == 0) and not any(
        isinstance(one, Object) and may_depend_on_mode(one) for one in given
    )


@question(start=False, unknown=False)
def is_known_to_depend_on_mode(module: Object) -> bool:
    """Whether a layer in sight behaves otherwise in training than in evaluation."""
    if module.definition is None and module.type not in CONTAINERS:
        is_layer = module.type.startswith("torch.nn.")
        return is_layer and _layer_depends_on_mode(module, module.type.removeprefix("torch.nn."))
    held = [one for value in module.attributes.values() for one in leaves(value) if one is not module]
    return any(isinstance(one, Object) and is_known_to_depend_on_mode(one) for one in held)


def _layer_depends_on_mode(layer: Object, name: str) -> bool:
    asks = MODE_DEPENDENT_IF.get(name) or MODE_DEPENDENT_UNLESS.get(name)
    if asks is None or layer.is_open:
        return name in MODE_DEPENDENT
    asked = layer.argument(*asks)
    if asked is None:
        return name in MODE_DEPENDENT_UNLESS
    is_off = isinstance(asked, Constant) and not asked.is_default and not asked.value
    return not is_off and has_levels(layer)


def has_levels(layer: Object) -> bool:
    """Whether a recurrent layer has more than one level, as far as one can see: its dropout is between them alone."""
    return layer.type not in RECURRENT or constant(layer.argument(2, "num_layers") or _ONE) != 1
