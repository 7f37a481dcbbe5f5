"""What modules hold, and what of it torch does not know."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class Unregistered:
    """Layers with parameters, or dropout, that a module keeps in a plain container, and nowhere else."""

    at: Place
    module: str
    attribute: str
    kind: str
    instead: str
    layers: tuple[Place, ...]
    of_layers_alone: bool = False
    """Whether `at` is a list or tuple that holds modules and nothing else."""
    may_train: bool = True
    """Whether code in sight creates the module, and may train something."""
    drops_alone: bool = False
    """Whether none of them has parameters."""


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
