"""How the targets of a loss lie beside the inputs of a model."""

from __future__ import annotations

from dataclasses import dataclass

from trainlint.finding import Place


@dataclass(frozen=True)
class Aligned:
    """Targets of a loss that are the inputs of a model, or those of later positions.

    Args:
        at: where the loss is computed.
        called_at: where the model is called.
        steps: by how many positions the targets are ahead of the inputs at which the outputs stand.
        positions: how many were compared; all of them agree.
        next: how many of them are the next input too.
        is_causal: for targets that are not ahead: whether each output was seen to depend on its own input and on
            earlier ones, and on no later one; None where that could not be tried.
    """

    at: Place
    called_at: Place
    model: str
    steps: int
    positions: int
    next: int
    is_causal: bool | None = False


@dataclass(frozen=True)
class Padding:
    """Targets of a loss at padded positions.

    Args:
        at: where the loss is computed.
        by: what says that a position is padded: `attention_mask`, or `padding_idx` of an embedding.
        token: what stands there.
        padded: how many positions are padded.
        counted: how many of them count in the loss.
        targets: how many positions count in the loss, padded or not.
        ignored: the value that the loss ignores.
        ends: how many real tokens are the same as the padding.
        ends_counted: how many of these count in the loss.
    """

    at: Place
    by: str
    token: int
    padded: int
    counted: int
    targets: int
    ignored: int
    ends: int = 0
    ends_counted: int = 0


@dataclass(frozen=True)
class Prompts:
    """Targets of a loss that stand before the marker at which an answer begins, in the first texts of a batch.

    Args:
        at: where the loss is computed.
        marker: the text that begins an answer.
        texts: how many texts have it.
        prompt: how many of their tokens stand before the end of it.
        counted: how many of these count in the loss.
        targets: how many tokens of these texts count in the loss.
    """

    at: Place
    marker: str
    texts: int
    prompt: int
    counted: int
    targets: int
