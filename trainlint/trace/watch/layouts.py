"""Which axis recurrent, attention and transformer modules take for the batch."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from trainlint.facts.model.values import Object
from trainlint.facts.seen.layouts import Layout

if TYPE_CHECKING:
    from trainlint.trace.watch.recorder import Recorder

_WITH_LAYOUT = (
    torch.nn.RNNBase,
    torch.nn.MultiheadAttention,
    torch.nn.Transformer,
    torch.nn.TransformerEncoderLayer,
    torch.nn.TransformerDecoderLayer,
)


def note_layout(
    recorder: Recorder,
    module: torch.nn.Module,
    made: Object,
    frame: FrameType | None,
    args: tuple[Any, ...],
) -> None:
    """A module is about to be called."""
    if not isinstance(module, _WITH_LAYOUT) or not args or not isinstance(args[0], torch.Tensor):
        return
    if args[0].is_nested:
        return
    place = recorder.at(frame)
    first = getattr(module, "batch_first", None)
    if first is None:
        first = getattr(getattr(module, "self_attn", None), "batch_first", False)
    if place is not None and recorder.wants(Layout, (place, id(module))):
        shape, batch = tuple(args[0].shape), recorder.batch.size
        recorder.fact(Layout(place, made.type, made.type, bool(first), shape, batch), (place, id(module)))
