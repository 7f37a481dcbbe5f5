"""What a run wrote into files."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class Saved:
    """Weights that `torch.save` has written under the names that a compiled module gives them.

    Args:
        keys: how many keys carry the prefix.
        example: one of them.
    """

    at: Place
    keys: int
    example: str
