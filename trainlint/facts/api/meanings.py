"""What the numbers of a tensor stand for, and what operations make of that. Data.

Source: PyTorch's documentation, and measurements on torch 2.13.
"""

from __future__ import annotations

from enum import Enum


class Meaning(Enum):
    """What the numbers of a tensor stand for."""

    LOGITS = "logits"
    PROBABILITIES = "probabilities"
    LOG_PROBABILITIES = "log-probabilities"


MAKES: dict[str, Meaning] = {
    **dict.fromkeys(("softmax", "softmin", "gumbel_softmax", "sigmoid", "expit"), Meaning.PROBABILITIES),
    **dict.fromkeys(("log_softmax", "logsigmoid"), Meaning.LOG_PROBABILITIES),
    **dict.fromkeys(
        (
            "linear",
            "bilinear",
            "conv1d",
            "conv2d",
            "conv3d",
            "conv_transpose1d",
            "conv_transpose2d",
            "conv_transpose3d",
        ),
        Meaning.LOGITS,
    ),
    **dict.fromkeys(
        (
            f"torch_geometric.nn.{name}"
            for name in "GCNConv ChebConv SAGEConv GraphConv TAGConv SGConv SSGConv RGCNConv FastRGCNConv GATConv GATv2Conv "
            "SuperGATConv TransformerConv ClusterGCNConv LEConv MFConv HypergraphConv".split()
        ),
        Meaning.LOGITS,
    ),
}
"""Operations whose result has a meaning whatever goes in."""


TURNS: dict[str, dict[Meaning, Meaning]] = {
    "log": {Meaning.PROBABILITIES: Meaning.LOG_PROBABILITIES},
    "exp": {Meaning.LOG_PROBABILITIES: Meaning.PROBABILITIES},
}
"""Operations that turn one meaning into another."""


KEEPS = frozenset(
    "view reshape flatten unflatten permute transpose t T mT squeeze unsqueeze contiguous to cuda cpu float "
    "double half bfloat16 type type_as clone getitem expand expand_as view_as reshape_as detach data identity "
    "narrow select index_select movedim swapaxes swapdims ravel output stack cat concat unbind chunk split "
    "rearrange requires_grad_ retain_grad pin_memory squeeze_ unsqueeze_ Variable as_tensor tensor Tensor "
    "moveaxis hstack vstack gather resize interpolate upsample torch.nn.Upsample torch.nn.UpsamplingBilinear2d "
    "torch.nn.UpsamplingNearest2d".split()
)
"""Operations whose result means what their first input means."""


CLAMPS = frozenset(("clamp", "clip", "clamp_min", "clamp_max", "clamp_"))
"""Keep probabilities what they are, but make a bounded score of a logit."""
