"""The tensors that models and losses are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from trainlint.facts.seen.batches import BatchSeen
from trainlint.finding import Place
from trainlint.trace.measure import numbers
from trainlint.trace.watch.graph import seen

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def note_given(
    recorder: Recorder,
    tensor: torch.Tensor,
    at: Place,
    role: str,
    name: str,
    to: str,
    weights: tuple[str, ...] = (),
) -> None:
    """Write down what a trained model or its loss is given. The arguments are those of `BatchSeen`."""
    key = (at, role, name)
    if not recorder.wants(BatchSeen, key):
        return
    with recorder.aside():
        found = numbers.spread(tensor)
        counts, distinct, sample = numbers.whole_numbers(tensor)
    look = seen(tensor)
    same = found is not None and found.smallest == found.largest and tensor.numel() > 1
    attached = tensor.requires_grad
    recorder.fact(
        BatchSeen(
            at,
            role,
            name,
            to,
            look.shape,
            look.dtype,
            look.device,
            found,
            same,
            weights,
            attached,
            counts,
            distinct,
            sample,
        ),
        key,
    )
