"""What a program still holds of an earlier step."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class GraphKept:
    """Losses of an earlier step, with their graphs, in a list.

    Args:
        at: where the first of them was computed.
        text: what the program would write for the list.
        kept: how many there are.
        steps: how many steps were taken by then.
    """

    at: Place
    text: str
    kept: int
    steps: int
