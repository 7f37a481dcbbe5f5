"""Under a process group: what the ranks of a run are to have in common, as sums that can be compared."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from trainlint.facts.seen.ranks import BatchSums, ParameterSums, Rank
from trainlint.finding import Place
from trainlint.trace.measure import numbers
from trainlint.trace.watch.optimizers import parameters_of

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_MOST_STEPS = 8
"""Steps and batches of which sums are kept: the first."""


class _Sums:
    """The sums of one parameter, by step."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = weakref.ref(tensor)
        self.weights: list[float] = []
        self.gradients: list[float | None] = []


class Ranks:
    """Sums of weights and gradients before each step, and of each batch, while a process group is there."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.rank: Rank | None = None
        """Where this process stands, as its process group says."""
        self._sums: dict[int, _Sums] = {}
        self._batches: list[float] = []
        self._batch_at: Place | None = None

    def forget(self) -> None:
        self._sums.clear()
        self._batches.clear()

    def before_step(self, optimizer: torch.optim.Optimizer, has_closure: bool) -> None:
        """Weights and gradients as the step is about to use them; a closure has not computed its gradients yet."""
        if not self._is_in_group():
            return
        held = [one for one in parameters_of(optimizer) if one.requires_grad]
        weights = numbers.checksums([one.detach() for one in held])
        with_gradient = [one for one in held if one.grad is not None and not has_closure]
        sums = numbers.checksums([one.grad for one in with_gradient if one.grad is not None])
        gradients = dict(zip(map(id, with_gradient), sums, strict=True))
        for one, weight in zip(held, weights, strict=True):
            kept = self._sums.get(id(one))
            if kept is None or kept.tensor() is not one:
                kept = self._sums[id(one)] = _Sums(one)
            if len(kept.weights) < _MOST_STEPS:
                kept.weights.append(weight)
                kept.gradients.append(gradients.get(id(one)))

    def model_called(self, given: list[torch.Tensor], at: Place | None) -> None:
        """A model that is trained gets a batch."""
        if len(self._batches) >= _MOST_STEPS or not self._is_in_group():
            return
        sums = [_sum(one) for one in given if one.dim() and one.numel() > 1]
        if sums:
            self._batches.append(sum(sums))
            self._batch_at = self._batch_at or at

    def seen(self) -> Iterator[ParameterSums | BatchSums]:
        if self.rank is None:
            return
        copied = _copied_to(self.rank.world)
        for root in self._recorder.models.all():
            at = self._recorder.objects.of(root).at or self._recorder.models.called_at(root)
            for name, one in root.named_parameters():
                kept = self._sums.get(id(one))
                if kept is not None and kept.tensor() is one and not _is_shard(one):
                    yield ParameterSums(
                        name, at, tuple(kept.weights), tuple(kept.gradients), id(one) in copied
                    )
        if self._batches:
            yield BatchSums(self._batch_at, tuple(self._batches))

    def _is_in_group(self) -> bool:
        distributed = torch.distributed
        if not distributed.is_available() or not distributed.is_initialized():
            return False
        if self.rank is None:
            self.rank = Rank(distributed.get_rank(), distributed.get_world_size())
        return self.rank.world > 1


def _sum(tensor: torch.Tensor) -> float:
    """A number that another batch does not have, in practice: elements count by where they stand."""
    values = numbers.plain(tensor)
    if values is None:
        return 0.0
    flat = values.reshape(-1).double()
    return float(
        torch.dot(flat, torch.linspace(1.0, 2.0, flat.numel(), dtype=torch.float64, device=flat.device))
    )


def _copied_to(world: int) -> set[int]:
    """The parameters that `DistributedDataParallel` keeps equal on all ranks, as far as nobody has told it otherwise."""
    found: set[int] = set()
    for one in gc.get_objects():
        if not issubclass(
            type(one), torch.nn.parallel.DistributedDataParallel
        ):  # some things say they are another class
            continue
        if getattr(one, "_comm_hooks", None) or one.process_group.size() != world:
            continue
        left_out = getattr(one, "parameters_to_ignore", ())
        found |= {id(held) for name, held in one.module.named_parameters() if name not in left_out}
    return found


def _is_shard(parameter: torch.Tensor) -> bool:
    """Whether each rank holds another part of it, as under FSDP."""
    return (
        hasattr(parameter, "_local_tensor")
        or type(parameter).__name__ == "FlatParameter"
        or hasattr(parameter, "_is_flat_param")
    )
