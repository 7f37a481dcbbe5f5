"""Floating types, and what autocast does. Data.

Source: PyTorch's documentation, and measurements on torch 2.13.
"""

from __future__ import annotations

CAST_TO = {"cuda": "float16", "cpu": "bfloat16", "mps": "float16", "xpu": "float16"}
"""What autocast casts to on each kind of device, where nothing else is asked for."""


CAST_DOWN = frozenset(
    "linear bilinear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d matmul @ mm bmm addmm "
    "addbmm baddbmm einsum scaled_dot_product_attention chain_matmul prelu".split()
)
"""Operations that autocast runs in the lower precision."""


FLOATS = {
    **{f"torch.{name}": name for name in ("float16", "bfloat16", "float32", "float64")},
    "torch.half": "float16",
    "torch.float": "float32",
    "torch.double": "float64",
}
"""Names of floating types."""


CONVERSIONS = {"half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64"}
"""Methods of modules and tensors that convert them, and to what."""


LARGEST_HALF = 65504
"""The largest number that float16 holds."""
