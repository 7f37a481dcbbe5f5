"""What modules hold, and what of it torch does not know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainlint.facts.api.torch_api import CONTAINERS, MODULE
from trainlint.facts.ask.asking import reached
from trainlint.facts.ask.attachment import has_parameters
from trainlint.facts.model.events import Built
from trainlint.facts.model.values import Choice, Items, Object, Op, Table, Value
from trainlint.finding import Place

if TYPE_CHECKING:
    from trainlint.facts.model.training import Training


@dataclass(frozen=True)
class Unregistered:
    """Layers with parameters that a module keeps in a plain container, and nowhere else."""

    at: Place
    module: str
    attribute: str
    kind: str
    instead: str
    layers: tuple[Place, ...]
    of_layers_alone: bool = False
    """Whether `at` is a list or tuple that holds modules and nothing else."""


BY_ANY_NAME = frozenset(
    "getattr __getattr__ __dict__ vars _modules children named_children named_modules get_submodule attrgetter "
    "exec".split()
)
"""Ways to come by a layer without its name in the code."""


@dataclass(frozen=True)
class Unread:
    """A layer with parameters under a name that no code of the program reads.

    Args:
        at: where the layer is made.
        calls: calls of it in a run; None where nothing ran.
    """

    at: Place
    module: str
    attribute: str
    layer: str
    calls: int | None = None


def unregistered(module: Object, handed_over: Callable[[], frozenset[int]]) -> Iterator[Unregistered]:
    """The plain containers of a module whose layers torch will not see.

    Args:
        handed_over: gives the numbers of values that the program passes on by other ways, to an optimizer for example.
    """
    if not module.is_a(MODULE) or module.definition is None or module.bases & CONTAINERS:
        return
    known = _registered(module)
    for name, value in module.attributes.items():
        if not isinstance(value, (Items, Table)):
            continue
        layers = [one for one in _objects(value) if one.is_a(MODULE) and has_parameters(one)]
        if not layers or value.uid in handed_over():
            continue
        lost = [one for one in layers if one.uid not in known and one.uid not in handed_over()]
        if lost and len(lost) == len(layers):
            at = (value.at if isinstance(value, Items) else None) or lost[0].at
            if at is None:
                continue
            kind = value.kind if isinstance(value, Items) else "dict"
            yield Unregistered(
                at,
                module.type,
                name,
                kind,
                "ModuleDict" if kind == "dict" else "ModuleList",
                tuple(one.at for one in lost if one.at is not None),
                isinstance(value, Items)
                and all(isinstance(one, Object) and one.is_a(MODULE) for one in value.items),
            )


def _registered(module: Object) -> set[int]:
    """Every object that a module reaches through attributes that are modules."""
    found: set[int] = set()
    pending = [module]
    while pending:
        for value in pending.pop().attributes.values():
            options = [option for _, option in value.options] if isinstance(value, Choice) else [value]
            for one in options:
                if isinstance(one, Object) and one.is_a(MODULE) and one.uid not in found:
                    found.add(one.uid)
                    found |= {inner.uid for held in one.attributes.values() for inner in _objects(held)}
                    pending.append(one)
    return found


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
