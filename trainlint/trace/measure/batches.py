"""How large a batch is, as the program's loader or its loss says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from trainlint.facts.model.values import Op
from trainlint.trace.watch.graph import Graph

_FLATTENS = ("view", "reshape", "flatten", "ravel")
"""What may give targets another first axis than the batch."""


class BatchSize:
    """The size of the batch; None while nothing has said it."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.size: int | None = None
        self._is_of_loader = False

    def of_loader(self, found: list[torch.Tensor], wanted: int | None) -> None:
        """A loader gave these tensors; `wanted` is how many samples it was asked for, where it was."""
        sizes = {one.shape[0] for one in found if one.dim() > 0}
        if wanted is None or (sizes != {wanted} and any(wanted in one.shape[1:] for one in found)):
            return
        if len(sizes) == 1 and max(sizes) <= wanted:
            self.size = sizes.pop()
            self._is_of_loader = True

    def of_loss(self, function: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if self._is_of_loader or function not in ("cross_entropy", "nll_loss"):
            return
        given = [*args[:2], *(kwargs[key] for key in ("input", "target") if key in kwargs)]
        if len(given) > 1 and isinstance(given[1], torch.Tensor) and given[1].dim() == 1:
            size, made = given[1].shape[0], self._graph.known(given[1])
            if isinstance(made, Op) and made.name in _FLATTENS and made.inputs:
                before = getattr(made.inputs[0], "seen", None)
                if before is None or before.shape[:1] != (size,):
                    return
            self.size = size
