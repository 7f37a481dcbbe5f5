"""The graph of a model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GraphNode:
    """A node of the picture of a model: the module or operation, and the nodes that feed it."""

    name: str
    operation: str
    module: str
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Picture:
    """The graph of a model.

    Args:
        by: `torch.fx`, `torch.export`, or `calls` where neither could trace the model.
        because: why the ones before could not.
    """

    model: str
    by: str
    nodes: tuple[GraphNode, ...]
    because: str = ""
