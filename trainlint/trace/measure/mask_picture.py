"""A mask made small, so that it can be looked at later."""

from __future__ import annotations

import base64
import zlib

import torch

from trainlint.facts.seen.masks import MaskPicture

_MOST = 64
"""Rows and columns of a picture."""


def mask_picture(taken: torch.Tensor) -> MaskPicture | None:
    """What a mask takes out: for the queries of the first sample, or for all samples where queries share a row."""
    if taken.dim() == 0 or taken.numel() == 0:
        return None
    whole = taken.reshape(1, -1) if taken.dim() == 1 else taken
    shared = whole.dim() > 2 and whole.shape[-2] == 1
    rows = (
        whole.reshape(whole.shape[0], -1, whole.shape[-1])[:, 0]
        if shared
        else whole.flatten(0, -3)[0]
        if whole.dim() > 2
        else whole
    )
    size = (min(_MOST, rows.shape[0]), min(_MOST, rows.shape[1]))
    small = torch.nn.functional.adaptive_avg_pool2d(rows[None].float(), size)[0]
    cells = (small * 255).round().to(torch.uint8).flatten().tolist()
    packed = base64.b64encode(zlib.compress(bytes(cells), 9)).decode()
    return MaskPicture("samples" if shared else "queries", *size, packed)
