"""Models that code draws one token after another from."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.facts.model.events.event import Event


@dataclass(eq=False)
class DrawsNext(Event):
    """Code beside an entry point puts the token that the last position of an output names behind the tokens that were given,
    again and again: the output at each position is about the next token.

    Args:
        called: what is called for that, as it is written: `self.model`.
    """

    called: tuple[str, ...] = ()
