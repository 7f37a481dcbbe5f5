"""Numbers of a tensor, measured without keeping it. Nothing here draws random numbers or records gradients."""

from __future__ import annotations

import math

import torch

from trainlint.facts.seen.gradients import Gradient
from trainlint.facts.seen.tensors import Spread

_MOST_COUNTED = 1_000_000
"""Whole numbers of a batch that are counted."""
_MOST_FREQUENT = 24
_FEWEST_OF_A_CLASS = 8
"""How often each whole number has to stand there on average, to be a class and no count or time."""
_SHOWN = 64
"""Whole numbers of a sample that are kept."""
_SAMPLE = 4096
"""Elements of a weight that are compared before and after a step."""


def plain(tensor: torch.Tensor) -> torch.Tensor | None:
    """The tensor as numbers that can be measured; None for what has no such numbers here."""
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor) or type(tensor).__name__ == "FakeTensor":
        return None
    if tensor.is_meta or tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
        return None
    local = getattr(tensor, "_local_tensor", None)  # a shard of a DTensor
    found = (tensor if local is None else local).detach()
    if found.is_complex():
        found = torch.view_as_real(found)
    return found


def spread(tensor: torch.Tensor) -> Spread | None:
    """Mean, standard deviation and range; NaN and infinities are counted, and make the rest NaN."""
    values = plain(tensor)
    if values is None or values.numel() == 0:
        return None
    if not values.is_floating_point():
        if values.dtype == torch.bool:
            values = values.to(torch.uint8)
        smallest, largest = torch.aminmax(values)
        return Spread(
            float(values.sum(dtype=torch.float64)) / values.numel(), 0.0, float(smallest), float(largest)
        )
    smallest, largest = torch.aminmax(values)
    summed, norm = values.sum(dtype=_wide(values)), torch.linalg.vector_norm(values, dtype=_wide(values))
    numbers = torch.stack([summed.float(), norm.float(), smallest.float(), largest.float()]).tolist()
    bad = 0 if all(map(math.isfinite, numbers)) else non_finite(values)
    mean = numbers[0] / values.numel()
    variance = numbers[1] ** 2 / values.numel() - mean**2
    return Spread(mean, math.nan if bad else max(0.0, variance) ** 0.5, numbers[2], numbers[3], bad)


def whole_numbers(
    tensor: torch.Tensor,
) -> tuple[tuple[tuple[int, int], ...], int | None, tuple[int, ...]]:
    """Of a tensor of whole numbers: its most frequent ones with their counts, how many differ, and the first sample."""
    values = plain(tensor)
    if values is None or values.numel() == 0 or values.is_floating_point() or values.dtype == torch.bool:
        return (), None, ()
    first = values if values.dim() < 2 else values[(0,) * (values.dim() - 1)]
    found, counts = torch.unique(values.flatten()[:_MOST_COUNTED], return_counts=True)
    most = torch.topk(counts, min(_MOST_FREQUENT, counts.numel())).indices
    pairs = zip(found[most].tolist(), counts[most].tolist(), strict=True)
    return tuple(pairs), found.numel(), tuple(first.reshape(-1)[:_SHOWN].tolist())


def classes_in_order(tensor: torch.Tensor) -> int:
    """How many different whole numbers there are, where all that are equal stand together, smallest first, and none is rare;
    0 otherwise."""
    values = plain(tensor)
    if (
        values is None
        or values.dim() != 1
        or values.is_floating_point()
        or not 1 < values.numel() <= _MOST_COUNTED
    ):
        return 0
    before, after = values[:-1], values[1:]
    if not bool((after >= before).all()):
        return 0
    classes = 1 + int((after != before).sum())
    return classes if 1 < classes <= values.numel() // _FEWEST_OF_A_CLASS else 0


def _wide(values: torch.Tensor) -> torch.dtype:
    """The type to add elements up in: half precision overflows."""
    return torch.float32 if values.dtype in (torch.float16, torch.bfloat16) else values.dtype


def non_finite(values: torch.Tensor) -> int:
    return int((~torch.isfinite(values)).sum())


def has_nan(tensor: torch.Tensor) -> bool:
    """Whether any element is NaN. A sum is looked at first, which needs no memory."""
    values = plain(tensor)
    if values is None or not values.is_floating_point() or values.numel() == 0:
        return False
    total = float(values.sum())
    return total != total and bool(torch.isnan(values).any())


def is_finite(tensor: torch.Tensor) -> bool:
    """Whether there is neither NaN nor infinity. A sum is looked at first, which needs no memory."""
    values = plain(tensor)
    if values is None or not values.is_floating_point() or values.numel() == 0:
        return True
    return math.isfinite(float(values.sum(dtype=_wide(values)))) or bool(torch.isfinite(values).all())


def gradients(found: list[torch.Tensor]) -> list[Gradient]:
    """What each gradient is like, in few passes over all."""
    result = []
    for one in found:
        values = plain(one.coalesce().values() if one.is_sparse else one)
        if values is None:  # what cannot be measured is not zero
            result.append(Gradient(math.nan, math.nan, 0.0, 0))
            continue
        if values.numel() == 0:
            result.append(Gradient(0.0, 0.0, 1.0, 0))
            continue
        norm = torch.linalg.vector_norm(values, dtype=_wide(values)).float()
        low, high = torch.aminmax(values)
        some = torch.count_nonzero(values)
        numbers = torch.stack([norm, low.float(), high.float(), some.float()]).tolist()
        largest = max(abs(numbers[1]), abs(numbers[2]))
        broken = not all(map(math.isfinite, numbers[:3]))
        result.append(
            Gradient(
                numbers[0],
                largest,
                1.0 - float(some) / values.numel(),
                non_finite(values) if broken else 0,
            )
        )
    return result


def any_nonzero(found: list[torch.Tensor]) -> list[bool]:
    """Whether each tensor holds anything but zeros, as one that cannot be measured may; with one look at the device."""
    counts = []
    for one in found:
        values = plain(one.coalesce().values() if one.is_sparse else one)
        if values is None or values.numel() == 0:
            known = int(values is None)
            counts.append(torch.tensor(known, dtype=torch.int64, device="cpu"))
        else:
            counts.append(torch.count_nonzero(values))
    if len({one.device for one in counts}) == 1:
        return [bool(one) for one in torch.stack(counts).tolist()]
    return [bool(one) for one in counts]


def checksums(found: list[torch.Tensor]) -> list[float]:
    """A number for each tensor that another tensor does not have, in practice."""
    result: list[float] = []
    for one in found:
        values = plain(one.coalesce().values() if one.is_sparse else one)
        if values is None or values.numel() == 0:
            result.append(0.0)
        else:
            result.append(float(torch.linalg.vector_norm(values, dtype=_wide(values))))
    return result


def sample(tensor: torch.Tensor) -> torch.Tensor | None:
    """A few thousand elements, evenly spaced, as a copy."""
    values = plain(tensor)
    if values is None or values.numel() == 0:
        return None
    flat = values.reshape(-1) if values.is_contiguous() else values.flatten()
    stride = max(1, flat.numel() // _SAMPLE)
    return flat[::stride].clone()


def lost(before: torch.Tensor, after: torch.Tensor, parameter: torch.Tensor) -> tuple[float | None, int]:
    """Of the elements of a half-precision sample that have a gradient, the share that a step has left as it was, and
    how many elements that is of."""
    gradient = parameter.grad
    if before.dtype not in (torch.bfloat16, torch.float16) or gradient is None or gradient.is_sparse:
        return None, 0
    kept = sample(gradient)
    if kept is None or kept.shape != after.shape:
        return None, 0
    moving = kept != 0
    count = int(moving.sum())
    return (float((after == before)[moving].double().mean()), count) if count else (None, 0)


def total(tensor: torch.Tensor) -> float:
    """The sum of all elements, to notice any change."""
    values = plain(tensor)
    return 0.0 if values is None else float(values.sum(dtype=_wide(values)))
