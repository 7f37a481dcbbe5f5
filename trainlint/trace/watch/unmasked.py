"""Calls of encoders of transformers without an attention mask. Looks at tokens, keeps none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.api.encoders import attends_to_padding
from trainlint.facts.seen.batches import Unmasked

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder


def note_unmasked(
    recorder: Recorder,
    module: torch.nn.Module,
    frame: FrameType | None,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    """Write down how many tokens that are padding a model is given, if nothing tells it so."""
    kind = type(module)
    if not kind.__module__.startswith("transformers."):
        return
    ids = kwargs.get("input_ids", args[0] if args else None)
    is_masked = kwargs.get("attention_mask") is not None or len(args) > 1
    if is_masked or not isinstance(ids, torch.Tensor) or ids.dim() != 2:
        return
    padding = getattr(getattr(module, "config", None), "pad_token_id", None)
    place = recorder.at(frame)
    if place is None or not isinstance(padding, int) or not recorder.wants(Unmasked, place):
        return
    if attends_to_padding(f"transformers.{kind.__name__}"):
        with recorder.aside():
            padded = int((ids == padding).sum())
        recorder.fact(Unmasked(place, kind.__name__, padded, ids.numel()), place)
