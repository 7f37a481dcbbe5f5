"""What models and losses were given."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.seen.tensors import Shape, Spread
from trainlint.finding import Place


@dataclass(frozen=True)
class BatchSeen:
    """A tensor that the trained model was given, or that its loss compares with.

    Args:
        at: where the model or loss is called with it.
        role: `input` or `target`.
        name: how it was handed over: the position, or the keyword.
        to: class of the model or loss.
        constant: whether all its elements are equal, with more than one of them.
    """

    at: Place
    role: str
    name: str
    to: str
    shape: Shape
    dtype: str
    device: str
    spread: Spread | None
    constant: bool = False
    weights: tuple[str, ...] = ()
    """Floating dtypes of the parameters that it meets."""
    attached: bool = False
    """Whether gradients pass through it: another model made it, and it is no data."""
    counts: tuple[tuple[int, int], ...] = ()
    """Of whole numbers: the most frequent ones, and how often each stands there."""
    distinct: int | None = None
    """Of whole numbers: how many different ones there are."""
    sample: tuple[int, ...] = ()
    """Of whole numbers: those of the first sample, from its beginning."""
    text: str = ""
    """That sample as text, where the tokenizer that the program has used knows these tokens."""


@dataclass(frozen=True)
class Unmasked:
    """A model that attends to padding was called without an attention mask.

    Args:
        model: its class.
        padded: how many of its tokens are padding, by its configuration.
        tokens: how many it was given.
    """

    at: Place
    model: str
    padded: int
    tokens: int
