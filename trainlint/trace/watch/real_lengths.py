"""Which positions of a padded batch are real, by what the batch holds. Looks at tensors, and keeps lengths."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from trainlint.finding import Place
from trainlint.trace.measure import numbers
from trainlint.trace.watch.graph import tensors

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_MOST_KEPT = 8
_MOST_CALLS = 4
"""Batches of one place that are looked at: the first, as of masks."""
_MOST_ROWS = 4096


class Lengths(NamedTuple):
    """How many positions of each row are real.

    Args:
        real: for each row.
        width: positions of each row, padding included.
        at_end: whether padding stands behind what is real; else it stands before.
    """

    real: tuple[int, ...]
    width: int
    at_end: bool

    def mask(self, device: torch.device) -> torch.Tensor:
        """True where a position is real: `[rows, width]`."""
        position = torch.arange(self.width, device=device)
        real = torch.tensor(self.real, device=device)[:, None]
        return position < real if self.at_end else position >= self.width - real


class RealLengths:
    """The lengths of the batches that were given to embeddings last, and of those that the running model was given."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._of_tokens: deque[Lengths] = deque(maxlen=_MOST_KEPT)
        self._calls: dict[Place, int] = {}

    def embedded(self, args: Sequence[Any], kwargs: Mapping[str, Any], at: Place | None) -> None:
        """Tokens were looked up in a table."""
        tokens = args[0] if args else kwargs.get("input")
        if at is None or not isinstance(tokens, torch.Tensor) or tokens.dim() != 2:
            return
        calls = self._calls[at] = self._calls.get(at, 0) + 1
        if calls > _MOST_CALLS:
            return
        padding = kwargs.get("padding_idx", args[2] if len(args) > 2 else None)
        found = of_tokens(tokens, padding if isinstance(padding, int) and padding >= 0 else None)
        if found is not None:
            self._of_tokens.append(found)

    def of(self, rows: int, width: int) -> Iterator[Lengths]:
        """What is known of batches of so many rows and positions."""
        for known in reversed(self._of_tokens):
            if (len(known.real), known.width) == (rows, width):
                yield known
        for given in tensors(self._recorder.modules.given()):
            if tuple(given.shape[:2]) == (rows, width):
                found = of_tokens(given) if given.dim() == 2 else of_features(given)
            else:
                found = of_counts(given, width) if tuple(given.shape) == (rows,) else None
            if found is not None:
                yield found


def of_tokens(tokens: torch.Tensor, padding: int | None = None) -> Lengths | None:
    """The lengths of rows of tokens `[rows, positions]`: each row has one and the same token at its end, or its beginning,
    some of them oftener than others, and nowhere else."""
    values = numbers.plain(tokens)
    if values is None or values.dtype == torch.bool or values.is_floating_point() or _is_too_small(values):
        return None
    for at_end in (True, False):
        edge = values[:, -1 if at_end else 0]
        token = torch.mode(edge).values if padding is None else torch.tensor(padding, device=values.device)
        found = _run(values != token, at_end)
        if found is not None:
            return found
    return None


def of_features(features: torch.Tensor) -> Lengths | None:
    """The lengths of rows of features `[rows, positions, features]` that end, or begin, with zeros."""
    values = numbers.plain(features)
    if values is None or values.dim() != 3 or not values.is_floating_point() or _is_too_small(values):
        return None
    real = (values != 0).any(dim=-1)
    return _run(real, True) or _run(real, False)


def of_counts(counts: torch.Tensor, width: int) -> Lengths | None:
    """Lengths that a model is given as such."""
    values = numbers.plain(counts)
    if (
        values is None
        or values.is_floating_point()
        or values.dtype == torch.bool
        or values.numel() > _MOST_ROWS
    ):
        return None
    real = tuple(map(int, values.tolist()))
    is_length = min(real, default=0) >= 1 and max(real, default=0) <= width and len(set(real)) > 1
    return Lengths(real, width, at_end=True) if is_length else None


def _is_too_small(values: torch.Tensor) -> bool:
    rows, width = values.shape[:2]
    return not (1 < rows <= _MOST_ROWS and width > 2)


def _run(real: torch.Tensor, at_end: bool) -> Lengths | None:
    """Lengths, where what is not real is all at one side, and rows differ."""
    counts = real.sum(dim=1)
    found = Lengths(tuple(counts.tolist()), real.shape[1], at_end)
    if len(set(found.real)) < 2 or min(found.real) == 0:
        return None
    return found if torch.equal(found.mask(real.device), real) else None
