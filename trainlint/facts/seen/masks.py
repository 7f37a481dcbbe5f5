"""The masks that attention was given."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.seen.tensors import Shape
from trainlint.finding import Place


@dataclass(frozen=True)
class MaskPicture:
    """A mask made small enough to be looked at.

    Args:
        down: what its rows are: `queries` of the first sample, or `samples` where all queries share a row.
        rows: at most 64, as are the columns, which are keys.
        cells: row by row a byte for each cell, from 0 (kept) to 255 (all of it masked): zlib, then base64.
    """

    down: str
    rows: int
    columns: int
    cells: str


@dataclass(frozen=True)
class MaskSeen:
    """A mask that met attention scores, or a function that takes one.

    Args:
        at: where it is applied.
        way: `masked_fill`, `where`, `add`, `sdpa`, `attention` (`nn.MultiheadAttention` and what is built on it),
            `key_padding` (its `key_padding_mask`).
        shape: of the mask.
        scores: shape of what it is applied to, `(…, queries, keys)`.
        masked: share of the scores that it takes out.
        empty_rows: queries that are left without any key, counted after broadcasting.
        rows: all queries, counted likewise.
        axes: for each axis of the mask, the axis of `scores` (from the front) that it is broadcast along.
        batch: size of the batch, where it is known.
        is_padding: built by comparing tokens or lengths: each row says which keys of one sample are real.
        by_position: made of nothing but positions, as a causal mask is: no sample has a say in it.
        fill: value that takes the place of what is masked; None for boolean masks of a function.
        before_softmax: whether a softmax over keys follows; None where that is not seen.
        fits: whether it could be applied; where not, `scores` is the shape that it has to broadcast to, and nothing
            else is known.
        is_nan: whether a query without keys came out as NaN.
        is_mended: whether something else took the place of the weights of such a query afterwards.
        leaves: what it lets through, where the batch itself says which keys are padding, or the mask which are later:
            `real`, `padding`, `later`, `next` (the next key and all before it) or `everything`; empty where that is not known.
        module: path of the module that was running.
        picture: what it looks like.
    """

    at: Place
    way: str
    shape: Shape
    dtype: str
    scores: Shape
    masked: float
    empty_rows: int
    rows: int
    axes: tuple[int, ...]
    batch: int | None = None
    is_padding: bool = False
    by_position: bool = False
    fill: float | None = None
    before_softmax: bool | None = None
    fits: bool = True
    is_nan: bool = False
    is_mended: bool = False
    leaves: str = ""
    module: str = ""
    picture: MaskPicture | None = None

    @property
    def is_shared(self) -> bool:
        """Whether all samples of a batch have the same mask."""
        own = 0 in self.axes and self.shape[self.axes.index(0)] > 1
        return not own and len(self.scores) > 2 and self.scores[0] > 1


@dataclass(frozen=True)
class MasksMet:
    """How many masks were applied at a place, those among them that nobody measured."""

    at: Place
    times: int
