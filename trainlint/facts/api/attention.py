"""What attends, and what masks it takes. Data.

Source: PyTorch's documentation, and measurements on torch 2.13.
"""

from __future__ import annotations

NOTHING_LEFT = -50.0
"""A number this low, in the place of a score or added to it, leaves it no weight."""


SDPA = "scaled_dot_product_attention"

FUSED: dict[str, int] = {
    "flash_attn_func": 3,
    "flash_attn_kvpacked_func": 2,
    "flash_attn_qkvpacked_func": 1,
    "flash_attn_varlen_func": 7,
    "flash_attn_varlen_kvpacked_func": 6,
    "flash_attn_varlen_qkvpacked_func": 3,
}
"""Functions of `flash_attn`, and the position of `dropout_p`, which "should be set to 0.0 during evaluation"."""

TOLD_BY_SHARE = frozenset((SDPA, *FUSED))
"""Functions that drop what they are told to, whatever the mode is."""


def fused(name: str) -> str | None:
    """The name of a function of `flash_attn`, without the packages that it lies in."""
    last = name.rpartition(".")[2]
    return last if name.startswith("flash_attn.") and last in FUSED else None


ATTENTION_MASKS: dict[str, dict[str, int]] = {
    SDPA: {"attn_mask": 3},
    "multi_head_attention_forward": {"key_padding_mask": 16, "attn_mask": 18},
    "torch.nn.MultiheadAttention": {"key_padding_mask": 3, "attn_mask": 5},
    "torch.nn.TransformerEncoder": {"mask": 1, "src_key_padding_mask": 2},
    "torch.nn.TransformerEncoderLayer": {"src_mask": 1, "src_key_padding_mask": 2},
    **{
        f"torch.nn.TransformerDecoder{layer}": {
            "tgt_mask": 2,
            "memory_mask": 3,
            "tgt_key_padding_mask": 4,
            "memory_key_padding_mask": 5,
        }
        for layer in ("", "Layer")
    },
    "torch.nn.Transformer": {
        "src_mask": 2,
        "tgt_mask": 3,
        "memory_mask": 4,
        "src_key_padding_mask": 5,
        "tgt_key_padding_mask": 6,
        "memory_key_padding_mask": 7,
    },
}
"""What takes attention masks: the names of its arguments, and their positions. True attends in `SDPA` alone."""

MASKS_MEET = f"softmax Softmax masked_fill masked_fill_ {SDPA} " + " ".join(
    sorted({argument for given in ATTENTION_MASKS.values() for argument in given} - {"mask"})
)
"""Names, one of which stands in all code in which a mask meets scores."""


MIXES = frozenset("@ matmul mm bmm einsum baddbmm".split())
"""Operations by which attention's weights mix values, and queries meet keys."""
