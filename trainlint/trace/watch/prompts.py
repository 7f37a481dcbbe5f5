"""Which targets of a loss belong to a prompt, by the marker at which its answer begins. Looks at tensors, keeps none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from trainlint.facts.seen.targets import Prompts
from trainlint.finding import Place

_MARKERS = (
    "### Response:",
    "### Answer:",
    "### Assistant:",
    "<|im_start|>assistant",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|assistant_start|>",
    "<|assistant|>",
    "<start_of_turn>model",
    "[/INST]",
    "\nASSISTANT:",
    "\nAssistant:",
)
"""What templates write before an answer."""
_MOST_TEXTS = 4
_LONGEST = 4096
"""Tokens of a text beyond which it is not read."""

Decode = Callable[[Sequence[int]], str]


def prompts_of(tokens: torch.Tensor, counts: torch.Tensor, decode: Decode, at: Place) -> Prompts | None:
    """The targets before the first answer; None where no text of the batch has a marker.

    Args:
        tokens: what the model was given, each text a row.
        counts: which of its next tokens count in the loss.
    """
    if tokens.dim() != 2 or tokens.shape[1] > _LONGEST:
        return None
    marker, texts, prompt, counted, all_counted = "", 0, 0, 0, 0
    first = zip(tokens[:_MOST_TEXTS].tolist(), counts[:_MOST_TEXTS].tolist(), strict=True)
    for row, here_counts in first:
        text = decode(row)
        here = next((one for one in _MARKERS if one in text), None)
        if here is None or (marker and here != marker):
            continue
        end = _end_of(here, row, decode)
        marker, texts, prompt = here, texts + 1, prompt + end - 1
        counted += sum(here_counts[: end - 1])  # a target is the token after the one of its place
        all_counted += sum(here_counts)
    return Prompts(at, marker, texts, prompt, counted, all_counted) if texts else None


def _end_of(marker: str, row: Sequence[int], decode: Decode) -> int:
    """How many tokens there are up to the end of a marker."""
    low, high = 1, len(row)
    while low < high:
        middle = (low + high) // 2
        if marker in decode(row[:middle]):
            high = middle
        else:
            low = middle + 1
    return low
